"""What recall has handed out lately, within what a view may see: the texts and who said them."""

from __future__ import annotations

from worldline.ports import View
from worldline.store.view import listed

MOST = 100


def handed_out(view: View, most: int = MOST) -> list[tuple[str, str]]:
    """(text, speaker) of the memories shown last, in this scope; noted aside, or still in mind."""
    held = list(reversed(view.store.shown.get(view.tenant, {})))[:most]
    noted = view.query(
        "SELECT line FROM uses WHERE tenant = :t AND kind = 'shown' ORDER BY id DESC LIMIT :most", most=most
    )
    lines = list(dict.fromkeys([*held, *(row[0] for row in noted)]))[:most]
    if not lines:
        return []
    rows = view.query(
        "SELECT n.content, CASE WHEN n.type = 'Turn' THEN n.name ELSE '' END FROM json_each(:among) s"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = s.value"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE {view.scoped('b')}",
        among=listed(lines),
    )
    return list(dict.fromkeys((str(content), str(speaker)) for content, speaker in rows))
