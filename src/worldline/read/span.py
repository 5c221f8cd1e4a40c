"""The span of time that a memory covers, on both axes: where a time machine's sliders begin and end."""

from __future__ import annotations

from worldline.clock import EARLIEST, FOREVER, Interval
from worldline.store.view import SqlView


def span(view: SqlView) -> dict[str, Interval | None]:
    """From the first to the last moment at which something began, for valid and for known time."""
    first_valid, last_valid, first_known, last_known = view.query(
        "SELECT min(b.vf), max(max(b.vf), max(CASE WHEN b.vt < :forever THEN b.vt ELSE b.vf END)),"
        " min(b.kf), max(b.kf) FROM beliefs b"
        f" WHERE b.tenant = :t AND b.type != 'Scope' AND b.vf > {EARLIEST} AND {view.scoped('b')}"
        f" AND {view.ever_inside('b.line')}",
        forever=FOREVER,
    )[0]
    if first_valid is None:
        return {"valid": None, "known": None}
    return {"valid": Interval(first_valid, last_valid + 1), "known": Interval(first_known, last_known + 1)}
