"""The stage of a memory (trace, unit, crystal) as it was marked at the view's known time.

Marks belong to an owner as such; what was said in one of the owner's runs has the owner's mark.
"""

from __future__ import annotations

from msgspec.structs import replace

from worldline.clock import FOREVER, Interval
from worldline.model import Version
from worldline.store.view import SqlView

_HOME = (
    "(SELECT h.id FROM scopes s CROSS JOIN scopes h ON h.tenant = s.tenant AND h.user IS s.user"
    " AND h.agent IS s.agent AND h.app IS s.app AND h.run IS NULL AND h.part_of = h.id"
    " WHERE s.id = b.scope AND s.run IS NOT NULL LIMIT 1)"
)
_OWN = f"m.tenant = :t AND m.line = b.line AND m.kind = 'stage' AND (m.scope = b.scope OR m.scope = {_HOME})"
STAGE = f"(SELECT m.value FROM marks m WHERE {_OWN} AND m.kf <= :k AND m.kt > :k LIMIT 1)"
"""As a column beside a belief `b`: its stage at the view's known time, or NULL."""


def with_stages(versions: list[Version], view: SqlView, line: int) -> tuple[Version, ...]:
    """A history with each stage after the beliefs that were held by then, its reason and how long it stood."""
    rows = view.query(
        "SELECT DISTINCT m.id, m.value, m.reason, m.kf, m.kt FROM beliefs b CROSS JOIN marks m"
        f" ON {_OWN} WHERE b.tenant = :t AND b.line = :line AND m.kf <= :k AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')} ORDER BY m.kf, m.id",
        line=line,
    )
    for _, stage, reason, start, end in rows:
        stood = Interval(start, end if end <= view.known else FOREVER)
        before = [version for version in versions if version.node.known.start <= start]
        if before:
            node = replace(before[-1].node, known=stood, reason=reason)
            versions.insert(len(before), Version(node, stage))
    return tuple(versions)
