"""What the union of two memories makes of a row that one of them holds: known, covered, history, or new.

Pure decisions over rows; `absorb.py` looks them up and carries them out. A belief is the same in two
stores when both learned it at the same moment for the same time of validity, or when one has it from
the other. So what was given up here is not believed again because a copy of it comes back; what
another memory found out by itself is new, whatever this one thinks of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from worldline.clock import FOREVER, Interval
from worldline.errors import Refused, UnknownType
from worldline.store.copying import HeldRow, Mark

Verdict = Literal["known", "covered", "history", "new"]
_RANKS = {"quarantined": 0, None: 1, "believed": 1, "confirmed": 2}


class Held(Struct, frozen=True):
    """A row of this store."""

    row: int
    valid: Interval
    known: Interval
    scope: int
    rank: int
    marks: frozenset[Mark]

    @property
    def current(self) -> bool:
        return self.known.end == FOREVER


class Told(Struct, frozen=True):
    """A row of the other store, and the stores that it has been in: (root hash, valid, known)."""

    valid: Interval
    known: Interval
    rank: int
    origins: tuple[tuple[bytes, Interval, Interval], ...]

    @property
    def current(self) -> bool:
        return self.known.end == FOREVER

    @property
    def marks(self) -> frozenset[Mark]:
        """What makes a belief in something the very same belief, here and wherever it was before."""
        return frozenset((valid.start, valid.end, known.start) for _, valid, known in self.origins)


def told(line: Mapping[str, Any], root: bytes) -> Told:
    """A belief or edge of an export; `root` is the hash of the store that it comes from."""
    valid, known = span(line["valid"]), span(line["known"])
    earlier = [(bytes.fromhex(store), span(v), span(k)) for store, v, k in line.get("origin") or ()]
    return Told(valid, known, rank(line.get("status")), ((root, valid, known), *earlier))


def held(row: HeldRow) -> Held:
    """A row of this store, with the marks of its origins."""
    own = (row.valid.start, row.valid.end, row.known.start)
    return Held(row.row, row.valid, row.known, row.scope, rank(row.status), frozenset((own, *row.marks)))


def rank(status: str | None) -> int:
    """How far a belief is trusted: quarantined, believed, confirmed."""
    return _RANKS[status]


def span(pair: Sequence[Any]) -> Interval:
    """An interval of an export, whose open end is null."""
    return Interval(pair[0], FOREVER if pair[1] is None else pair[1])


def judge(row: Told, here: Sequence[Held], *, at_once: bool = False) -> tuple[Verdict, Held | None]:
    """What a row of the other store is to this one, and the row here that says so.

    `at_once`: only a row that begins at the same moment covers it (each supersession is its own).
    """
    for own in here:
        if row.marks & own.marks:
            return "known", own
    if not row.current:
        return "history", None
    for own in here:
        begins = own.valid.start == row.valid.start if at_once else own.valid.start <= row.valid.start
        if own.current and own.rank >= row.rank and begins and own.valid.end >= row.valid.end:
            return "covered", own
    return "new", None


def rivals(row: Told, here: Iterable[Held]) -> list[Held]:
    """The current rows here that claim the same time."""
    return [own for own in here if own.current and own.rank and own.valid.overlaps(row.valid)]


# Types ---------------------------------------------------------------------------------------------


def require_handlers(used: Iterable[str], versions: Mapping[str, str], here: Mapping[str, str]) -> None:
    """Refuses edge types that this process cannot run, or has in another version."""
    missing = sorted(name for name in set(used) if name not in here)
    if missing:
        raise Refused(
            f"this process has no handler for the edge types {', '.join(map(repr, missing))}; "
            "register their EdgeType here first"
        )
    other = sorted(name for name in set(used) if versions.get(name, here[name]) != here[name])
    if other:
        told = ", ".join(f"{name!r} ({versions[name]} there, {here[name]} here)" for name in other)
        raise Refused(f"these edge types have other versions in that memory: {told}; register those first")


def require_types(unknown: Iterable[str]) -> None:
    """Refuses node types that are not registered where their memories would lie."""
    if names := sorted(set(unknown)):
        raise UnknownType(
            f"that memory has types that this one does not know: {', '.join(map(repr, names))}; "
            "register their NodeType here first"
        )
