"""What recall has handed out lately, within what a view may see: the texts and who said them."""

from __future__ import annotations

from worldline.store.view import SqlView

MOST = 200


def handed_out(view: SqlView, most: int = MOST) -> list[tuple[str, str]]:
    """(text, speaker) of the memories shown last, in this scope; noted aside, or still in mind."""
    shown = view.store.shown
    held = [line for tenant, line in reversed(list(shown)) if tenant == view.tenant][:most]
    rows = view.query(
        "SELECT line FROM uses WHERE tenant = :t AND kind = 'shown' ORDER BY id DESC LIMIT :most",
        most=2 * most,
    )
    lines = list(dict.fromkeys([*held, *(row[0] for row in rows)]))[:most]
    if not lines:
        return []
    chosen = ",".join(map(str, lines))
    found = view.query(
        "SELECT DISTINCT n.content, CASE WHEN n.type = 'Turn' THEN n.name ELSE '' END"
        f" FROM beliefs b CROSS JOIN nodes n ON n.id = b.node WHERE b.tenant = :t AND b.line IN ({chosen})"
        f" AND {view.scoped('b')}"
    )
    return [(str(content), str(speaker)) for content, speaker in found]
