"""Facts for a question: the graph that the walk sees.

Everything goes through the view, so the walk cannot step on what is over, withdrawn, doubtful, or
somebody else's. Accepted identities are one entity here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from worldline.ports import View
from worldline.read.walk import Answer, Hop, Step
from worldline.rules.slots import label
from worldline.store import people
from worldline.text import fold


class ViewGraph:
    """The currently valid facts of one view, as the walk asks for them; nothing is looked up twice."""

    def __init__(self, view: View, also: Collection[str] = ()) -> None:
        self._view, self._also = view, also
        """Folded names that will be asked for: they are looked up with the first ones."""
        self._names: dict[str, str] = {}
        self._linked: dict[str, str] = {}
        self._asked: set[str] = set()
        self._stood_at: set[tuple[str, int]] = set()
        """The entities from which steps were looked for: walks come back to people again and again."""
        self._steps: dict[tuple[int, bool, str], list[Step]] = {}
        self.ids: dict[int, str] = {}
        """The ids of the facts that were stepped over."""

    def link(self, names: Collection[str]) -> dict[str, str]:
        """Folded names that are known here → entity."""
        new = {*names, *self._also} - self._asked if set(names) - self._asked else set()
        for one in people.called(self._view, new) if new else ():
            entity = str(one.first)
            self._names.setdefault(entity, one.name)
            self._linked[fold(one.name)] = entity
        self._asked |= new
        return {name: self._linked[name] for name in names if name in self._linked}

    def around(self, entities: Collection[str], limit: int) -> tuple[Sequence[Step], Sequence[Step]]:
        """Facts about these entities, and facts whose object is one of them, if it has no more than `limit`."""
        new = [entity for entity in entities if (entity, limit) not in self._stood_at]
        for one in people.around(self._view, [int(entity) for entity in new], 4 * limit):
            subject, object_ = str(one.subject), str(one.object)
            self._names.setdefault(subject, one.subject_name)
            self._names.setdefault(object_, one.object_name)
            self.ids[one.fact] = one.id
            step = Step(str(one.fact), subject, one.relation, label(one.phrase), object_)
            self._steps.setdefault((limit, one.inverse, object_ if one.inverse else subject), []).append(step)
        self._stood_at.update((entity, limit) for entity in new)
        reached = [self._steps.get((limit, True, entity), []) for entity in entities]
        return (
            [step for entity in entities for step in self._steps.get((limit, False, entity), [])],
            [step for steps in reached if len(steps) <= limit for step in steps],
        )

    def called(self, relations: Collection[str]) -> Mapping[str, Sequence[Collection[str]]]:
        """For each relation, what some of its objects are called, as stems."""
        return people.objects_called(self._view, relations)

    def name(self, entity: str) -> str:
        """What to call an entity."""
        if entity not in self._names:
            self._names[entity] = people.name_of(self._view, int(entity))
        return self._names[entity]


def with_ids(view: View, answer: Answer) -> Answer:
    """An answer whose entities and facts go by their ids, as everything does outside the store."""
    hops = [hop for chain in answer.chains for hop in chain.hops]
    ends = [end for hop in hops for end in (hop.fact, hop.source, hop.target)]
    rows = {*answer.starts, *(chain.answer for chain in answer.chains), *ends}
    numbers = sorted(int(row) for row in rows)
    ids = dict(zip(map(str, numbers), view.ids(numbers), strict=True))
    return replace(
        answer,
        starts=tuple(ids[row] for row in answer.starts),
        chains=tuple(
            replace(chain, answer=ids[chain.answer], hops=tuple(_named_by_id(hop, ids) for hop in chain.hops))
            for chain in answer.chains
        ),
    )


def _named_by_id(hop: Hop, ids: Mapping[str, str]) -> Hop:
    return replace(hop, fact=ids[hop.fact], source=ids[hop.source], target=ids[hop.target])
