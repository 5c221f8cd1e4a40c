"""A life with a memory, day by day: what is said, noted, changed, asked and praised, and every night a sleep.

The same seed lives the same life. `points` looks at it from random moments on both axes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from worldline import Config, Memory
from worldline.errors import Conflict, NotFound, Refused
from worldline.rules.describe import DAY
from worldline.testing import FrozenClock

START = 1_700_000_000_000_000
PEOPLE = "Ana Bo Carla Dmitri Elif Farid Greta Hugo Ines Jonas".split()
CITIES = "Porto Lisbon Oslo Berlin Lima Quito Kyoto Turin".split()
FOODS = "sushi ramen tapas curry risotto falafel".split()
THINGS = "lamp sofa bike laptop kettle guitar tent camera drill printer ladder mirror".split()
PLACES = "kitchen garage office garden attic cellar shop library".split()
CHATTER = ("hi", "ok thanks", "good morning!", "haha", "sounds good", "see you")
QUESTIONS = (
    "Where do I live?", "What is my favourite food?", "Who repaired the {thing}?",
    "What did {person} say about the {thing}?",
    "When did I buy the {thing}?", "How much was the {thing} in the {place}?", "What is in the {place}?",
    "What happened with {person}?", "Which {thing} is broken?",
)  # fmt: skip
DAYTIME = ("uses", "surprise")
NIGHT = (*DAYTIME, "decay", "compact")


class Life:
    """One memory and the clock that it lives by."""

    def __init__(self, memory: Memory, clock: FrozenClock, seed: int = 7) -> None:
        self.memory, self.clock, self.dice = memory, clock, random.Random(seed)
        self.day = 0
        self.ids: list[str] = []
        self.notes: list[str] = []

    @classmethod
    def open(
        cls, path: str = ":memory:", *, embedder: object = None, seed: int = 7, **settings: object
    ) -> Life:
        clock = FrozenClock(START)
        config = Config(embedder="none", durability="normal", **settings)  # type: ignore[arg-type]
        return cls(Memory.open(path, config, clock=clock, embedder=embedder), clock, seed)  # type: ignore[arg-type]

    def live(self, days: int, said: int, passes: Sequence[str] | None = NIGHT) -> Iterator[int]:
        """So many days with so many things said each; yields the day after each night."""
        for _ in range(days):
            self._today(said)
            self.clock.set(START + (self.day + 1) * DAY)
            self.memory.consolidate(passes)
            self.day += 1
            yield self.day

    def _today(self, said: int) -> None:
        session = f"day {self.day}"
        for _ in range(said):
            self._tick()
            self.ids += self.memory.remember(self._words(), speaker="user", session=session).ids or []
        if self.day == 0:
            self._say("My name is Nia and I am allergic to peanuts. My favourite food is sushi.", session)
        if self.day % 90 == 0:
            self._say(f"I live in {CITIES[self.day // 90 % len(CITIES)]}.", session)
        if self.day % 5 == 0:
            self._note()
        if self.day % 3 == 0:
            self._ask()

    def _say(self, text: str, session: str) -> None:
        self._tick()
        self.memory.remember(text, speaker="user", session=session)

    def _words(self) -> str:
        one = self.dice.choice
        if self.dice.random() < 0.2:
            return one(CHATTER)
        person, thing, place, number = one(PEOPLE), one(THINGS), one(PLACES), self.dice.randint(2, 990)
        return one(
            (
                f"{person} repaired the {thing} in the {place} for {number} euros.",
                f"The {thing} in the {place} is broken again, says {person}.",
                f"Today {person} bought the {thing} number {number} for the {place}.",
                f"We moved the {thing} from the {place} because {person} needed room for {number} boxes.",
            )
        )

    def _note(self) -> None:
        """Notes are made, amended, corrected and retired."""
        self._tick()
        thing, number = self.dice.choice(THINGS), self.dice.randint(2, 990)
        text = f"The {thing} costs {number} euros a month in the {self.dice.choice(PLACES)}."
        memory, old = self.memory, self.dice.choice(self.notes) if self.notes else None
        way = self.dice.choice(("put", "put", "amend", "correct", "retire")) if old else "put"
        try:
            if way == "put" or old is None:
                self.notes.append(memory.note("learning", f"{thing} {self.day}", text).id or "")
            elif way == "retire":
                memory.retire(old)
            else:
                getattr(memory, way)(old, text)
        except (Refused, Conflict, NotFound):
            pass  # what is over cannot change any more

    def _ask(self) -> None:
        """A few questions a week, and now and then a word of praise or complaint."""
        self._tick()
        hits = self.memory.recall(self._question(self.dice), limit=3).hits
        if hits and self.day % 9 == 0:
            self.memory.feedback(hits[0], "wrong" if self.dice.random() < 0.2 else "useful")

    def _question(self, dice: random.Random) -> str:
        text = dice.choice(QUESTIONS)
        return text.format(person=dice.choice(PEOPLE), thing=dice.choice(THINGS), place=dice.choice(PLACES))

    def _tick(self) -> None:
        self.clock.advance(1_000_000)

    # Looking -----------------------------------------------------------------------------------------

    def sizes(self) -> dict[str, int]:
        """Rows of the hot tables, of the cold ones, and of the whole."""
        names = (
            "texts",
            "embeddings",
            "cold_texts",
            "cold_embeddings",
            "nodes",
        )
        counts = self.memory.handle.store.query(
            "SELECT " + ", ".join(f"(SELECT count(*) FROM {n})" for n in names)
        )
        totals = dict(self.memory.handle.store.query("SELECT cold, texts FROM words_total"))
        words = {"hot words": totals.get(0, 0), "cold words": totals.get(1, 0)}
        return words | dict(zip(names, counts[0], strict=True))

    def points(self, number: int, seed: int = 1) -> list[object]:
        """What is told at so many random (valid, known) moments: get, list, recall with its facts."""
        dice, last = random.Random(seed), START + self.day * DAY
        ids = [row[0].hex() for row in self.memory.handle.store.query(
            "SELECT hash FROM nodes WHERE type IN ('Turn', 'Fact', 'learning') ORDER BY id"
        )]  # fmt: skip
        told: list[object] = []
        for _ in range(number):
            valid, known = (dice.randint(START - DAY, last) for _ in range(2))
            if dice.random() < 0.3:
                known = valid
            memory = self.memory.at(valid=valid, known=known)
            told.append([self._got(memory, dice.choice(ids)) for _ in range(3)])
            kind = dice.choice(("Turn", "Fact", "learning", None))
            told.append([_seen(node) for node in memory.list(kind, limit=20).items])
            found = memory.recall(self._question(dice), include_superseded=dice.random() < 0.2)
            told.append([(_seen(hit.node), round(hit.score, 6)) for hit in found.hits])
            told.append([(fact.text, fact.valid) for fact in found.facts])
            told.append((found.abstained, found.text))
        return told

    @staticmethod
    def _got(memory: Memory, id_: str) -> object:
        try:
            return _seen(memory.get(id_))
        except NotFound as error:
            return str(error)


def _seen(node: object) -> tuple[object, ...]:
    return tuple(
        getattr(node, name) for name in ("id", "name", "content", "valid", "known", "status", "notes")
    )
