"""An audit: what did the agent believe when it sent that mail, why, and what do we know today?

python examples/audit.py
"""

from worldline import Config, Memory
from worldline.testing import FrozenClock

MAIL = "2026-03-03T10:00"


def main() -> None:
    """On the 5th it was learned what had changed on the 1st; the mail went out on the 3rd."""
    clock = FrozenClock("2026-01-10")
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        memory.remember("Acme is on the silver tier.", speaker="Ana", said_at="2026-01-10")
        clock.set("2026-03-05")
        memory.remember("Acme moved to the gold tier on March 1st.", speaker="Bo", said_at="2026-03-05")
        contract = memory.note("context", "Acme discount", "5 %", valid_from="2026-01-10")
        clock.set("2026-03-20")
        memory.correct(contract, "10 %", reason="the letter was misread")

        question = "Which tier is Acme on?"
        then = memory.at(as_of=MAIL)
        print("believed when the mail was sent:", then.recall(question).hits[0].node.content)
        print("the discount was not known then:", not then.list("context").items)
        print("known today:", memory.recall(question).hits[0].node.content)
        for version in memory.history(contract):
            print(
                f"discount: {version.change} {version.node.content} ({version.node.reason or 'as written'})"
            )
        print("nothing was altered since:", memory.verify().ok)


if __name__ == "__main__":
    main()
