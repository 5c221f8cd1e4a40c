"""What recall has handed out lately, within what a view may see: the texts and who said them."""

from __future__ import annotations

from worldline.store.view import SqlView, listed

MOST = 200


def handed_out(view: SqlView, most: int = MOST) -> list[tuple[str, str]]:
    """(text, speaker) of the memories shown last, in this scope; noted aside, or still in mind."""
    held = list(reversed(view.store.shown.get(view.tenant, {})))[:most]
    rows = view.query(
        "SELECT DISTINCT n.content, CASE WHEN n.type = 'Turn' THEN n.name ELSE '' END"
        " FROM (SELECT value AS line FROM json_each(:among) UNION SELECT u.line FROM (SELECT line FROM uses"
        " WHERE tenant = :t AND kind = 'shown' ORDER BY id DESC LIMIT :most) u) s"
        " CROSS JOIN beliefs b ON b.tenant = :t AND b.line = s.line"
        f" CROSS JOIN nodes n ON n.tenant = :t AND n.id = b.node WHERE {view.scoped('b')} ORDER BY 1, 2",
        among=listed(held),
        most=2 * most,
    )
    return [(str(content), str(speaker)) for content, speaker in rows]
