"""A short story in one file: what was said, what was true when, and when we knew it.

Run it with `make demo`. It uses a temporary file and a calendar of its own, so that it tells the
same story every time.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from worldline import Memory
from worldline.clock import Instant, Interval, instant, show


class Calendar:
    """A clock that stands where the story stands."""

    def __init__(self) -> None:
        self.today = "2026-01-02"

    def __call__(self) -> Instant:
        return instant(self.today)

    def turn_to(self, day: str) -> None:
        """The story goes on another day."""
        self.today = day
        print(f"\n--- {day} ---")


def tell(text: str) -> None:
    """A sentence of the story."""
    print(f"  {text}")


def when(interval: Interval) -> str:
    """An interval by its days."""
    return f"{show(interval.start)[:10]} → {show(interval.end)[:10]}"


def two_times(memory: Memory, calendar: Calendar) -> None:
    """It changed on the 1st, we learn it on the 5th, and both questions about the 3rd have an answer."""
    print("1. Two time axes: when it was true, and when we knew")
    contract = memory.note("context", "Acme contract", "tier: silver", valid_from="2026-01-01")
    tell("We note: the Acme contract is on the silver tier.")

    calendar.turn_to("2026-03-05")
    memory.amend(contract, "tier: gold", valid_from="2026-03-01")
    tell("A letter arrives on the 5th: gold tier since the 1st. We amend the note.")

    calendar.turn_to("2026-03-10")
    then = memory.at(valid="2026-03-03", known="2026-03-03").get(contract)
    now = memory.at(valid="2026-03-03").get(contract)
    tell(f"What did we believe on the 3rd?                      {then.content}")
    tell(f"What was true on the 3rd, as we know it today?       {now.content}")
    tell("History:")
    for version in memory.history(contract):
        node = version.node
        tell(f"  {version.change:<11}{node.content:<13} held {when(node.valid)}, believed {when(node.known)}")


def three_changes(memory: Memory, calendar: Calendar) -> None:
    """Amend, correct and retire are three different things."""
    print("\n2. It changed, it was wrong, it is over")
    day = "2026-02-15"
    amended = memory.note("learning", "office", "Lisbon", valid_from="2026-01-01")
    corrected = memory.note("learning", "birthday", "4 May", valid_from="2026-01-01")
    retired = memory.note("project", "Migration", "under way", valid_from="2026-01-01")
    calendar.turn_to("2026-04-01")
    memory.amend(amended, "Porto", valid_from="2026-03-20")
    memory.correct(corrected, "5 May", reason="misheard")
    memory.retire(retired, "2026-03-31")
    for name, ref in (("amend", amended), ("correct", corrected), ("retire", retired)):
        visible = [n.content for n in memory.list().items if n.name == memory.get(ref, exact=True).name]
        past = memory.at(valid=day).get(ref).content
        tell(f"{name:<8} now: {(visible or ['nothing'])[0]:<9}  of {day}, known today: {past}")
    tell("Only the correction changed what we say about February: it was never 4 May.")


def words_behind(memory: Memory, calendar: Calendar) -> None:
    """What is said becomes facts, and why leads back to the words."""
    print("\n3. Remember, recall, and why")
    ana = memory.scoped(user="ana")
    calendar.turn_to("2026-05-02")
    ana.remember("I live in Berlin and my sister Rosa works at Siemens.", speaker="Ana")
    tell("Ana says: “I live in Berlin and my sister Rosa works at Siemens.”")
    calendar.turn_to("2026-06-20")
    receipt = ana.remember("I live in Rome now.", speaker="Ana")
    tell("Ana says: “I live in Rome now.” The receipt explains what that does:")
    tell(f"  {receipt.changes[0]}")
    tell("Recall gives what is believed, then the words, dated, within a budget:")
    for line in ana.recall("Where does Ana live?", max_tokens=120).text.splitlines():
        tell(f"  {line}")
    (fact,) = [fact for fact in ana.list("Fact").items if "Rome" in fact.content]
    for event in ana.why(fact).events:
        tell(f"Why “{fact.content}”? {event.name} said on {show(event.valid.start)[:10]}: “{event.content}”")
    then = ana.at(valid="2026-05-20").list("Fact").items
    tell(f"And in May: {[fact.content for fact in then if 'live' in fact.name]}")


def worlds(memory: Memory) -> None:
    """A world is a boundary, and its hash covers everything inside it."""
    print("\n4. Worlds: boundaries with a fingerprint")
    project = memory.note("project", "Apollo")
    inside = memory.enter(project)
    inside.note("learning", "fuel", "hydrogen")
    before, everything = memory.hash(project), memory.hash()
    tell(f"Apollo has hash {before[:12]}; inside it we see {sorted(n.name for n in inside.list().items)}")
    inside.note("learning", "crew", "three")
    tell(
        f"One more note inside, and the hash is {memory.hash(project)[:12]}; the whole memory's changed too:"
    )
    tell(f"{everything[:12]} → {memory.hash()[:12]}")
    added = inside.diff(before).added
    tell(f"The old hash still answers. Since then came: {[node.name for node in added]}")


def proof(memory: Memory) -> None:
    """Everything can be proved again."""
    print("\n5. Proof")
    found = memory.verify()
    tell(f"verify: {'ok' if found.ok else found.damage}; {found.nodes} memories, {found.edges} edges, "
         f"{found.worlds} worlds, {found.changesets} changesets checked")  # fmt: skip


def main() -> None:
    """The whole story."""
    calendar = Calendar()
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "demo.db", clock=calendar) as memory,
    ):
        two_times(memory, calendar)
        three_changes(memory, calendar)
        words_behind(memory, calendar)
        worlds(memory)
        proof(memory)


if __name__ == "__main__":
    main()
