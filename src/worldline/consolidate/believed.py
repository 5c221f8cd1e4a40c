"""Facts as the passes over them see them: whole slots, after accepted merges, with their evidence.

Reads only what is believed now, in the owner's scope. Whether facts agree is for the passes to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import orjson
from msgspec import Struct

from worldline.model import Belief
from worldline.store.view import BELIEF, LISTED, SqlView, belief_from, listed
from worldline.text import fold

_FACT = f"SELECT {BELIEF}, f.node, n.hash, n.world, f.subject, f.predicate, f.object, f.literal, f.one, f.rank, o.name"
_FROM = (
    " CROSS JOIN nodes n ON n.id = f.node CROSS JOIN beliefs b ON b.tenant = :t AND b.line = n.line"
    " AND b.node = n.id AND b.kt = :forever LEFT JOIN nodes o ON o.id = f.object"
)


class Stated(Struct, frozen=True):
    """A fact that is believed now, after merges: `subject` and `object` are the first of their identity."""

    line: int
    id: str
    world: int
    subject: int
    predicate: str
    object: int
    value: str
    """What the object is called, folded; or the literal."""
    literal: str | None
    one: bool
    rank: str
    belief: Belief

    @property
    def key(self) -> str:
        """What it says of its subject, whatever the wording calls the object."""
        return self.predicate.partition("#")[0] if self.object else self.predicate


class Identity:
    """Accepted merges, asked for once each."""

    def __init__(self, view: SqlView) -> None:
        self._view, self._merged = view, view.has_merges()
        self._classes: dict[int, list[int]] = {}

    def all(self, line: int) -> list[int]:
        """Everything that is the same as this."""
        if not line or not self._merged:
            return [line]
        if line not in self._classes:
            class_ = self._view.same_as(line)
            self._classes.update((member, class_) for member in class_)
        return self._classes[line]

    def first(self, line: int) -> int:
        """The one that stands for all of them."""
        return self.all(line)[0]


def facts(view: SqlView, who: Identity, lines: Collection[int]) -> list[Stated]:
    """These facts, as far as they are believed."""
    rows = view.query(
        f"{_FACT} FROM facts f{_FROM} WHERE f.node IN {LISTED} AND f.tenant = :t AND {view.scoped('b')}"
        " ORDER BY b.id",
        among=listed(sorted(lines)),
    )
    return [_stated(row, who) for row in rows]


def of_subjects(view: SqlView, who: Identity, slots: Iterable[tuple[int, str]]) -> list[Stated]:
    """Every believed fact of these (subject, predicate) pairs, under all names of the subject."""
    wanted = sorted({(member, predicate) for subject, predicate in slots for member in who.all(subject)})
    return _by(view, who, "j.value ->> 0 = f.subject AND f.predicate = j.value ->> 1", wanted)


def of_objects(view: SqlView, who: Identity, ends: Iterable[tuple[int, str]]) -> list[Stated]:
    """Every believed fact with these (object, key) pairs, under all names of the object."""
    wanted = sorted({(member, key) for object_, key in ends for member in who.all(object_)})
    on = "f.object = j.value ->> 0 AND f.predicate >= j.value ->> 1 AND f.predicate < (j.value ->> 1) || '$'"
    found = _by(view, who, on, wanted)
    keys = {key for _, key in wanted}
    return [fact for fact in found if fact.key in keys]


def _by(view: SqlView, who: Identity, on: str, wanted: Collection[tuple[int, str]]) -> list[Stated]:
    if not wanted:
        return []
    rows = view.query(
        f"{_FACT} FROM json_each(:wanted) j CROSS JOIN facts f ON f.tenant = :t AND {on}{_FROM}"
        f" WHERE {view.scoped('b')} ORDER BY b.id",
        wanted=orjson.dumps(wanted).decode(),
    )
    return list({row[0]: _stated(row, who) for row in rows}.values())


def merged_facts(view: SqlView, entities: Collection[int]) -> list[int]:
    """The facts that speak of any of these entities."""
    if not entities:
        return []
    rows = view.query(
        f"SELECT f.node FROM facts f WHERE f.tenant = :t AND f.subject IN {LISTED} UNION"
        f" SELECT f.node FROM facts f WHERE f.tenant = :t AND f.object IN {LISTED}",
        among=listed(sorted(entities)),
    )
    return [row[0] for row in rows]


def _stated(row: tuple[Any, ...], who: Identity) -> Stated:
    line, hash_, world, subject, predicate, object_, literal, one, rank, name = row[11:]
    value = fold(name or "") if object_ else literal or ""
    return Stated(
        line, hash_.hex(), world, who.first(subject), predicate, who.first(object_), value, literal,
        bool(one), rank, belief_from(row[:11]),
    )  # fmt: skip
