"""Two agents, two files: one absorbs the other, and nothing is lost, doubled or silently merged.

python examples/two_agents.py
"""

import tempfile
from pathlib import Path

from worldline import Config, Memory

PLAIN = Config(embedder="none")


def main() -> None:
    """What both know is one; where they disagree, both sides stand."""
    folder = Path(tempfile.mkdtemp())
    with (
        Memory.open(folder / "laptop.db", PLAIN) as laptop,
        Memory.open(folder / "server.db", PLAIN) as server,
    ):
        for memory in (laptop, server):
            memory.note("context", "Acme contract", "tier: silver", valid_from="2026-01-01")
        laptop.remember("The budget is 40,000 euros.", speaker="Ana", said_at="2026-02-01")
        server.note("learning", "Deploys", "Never on a Friday.", valid_from="2026-02-02")

        first = laptop.absorb(server)
        print(f"absorbed: {first.memories} new, {first.same} the same")
        print("the same again changes nothing:", not laptop.absorb(server).changed)
        notes = laptop.list(["context", "learning"]).items
        print("knows now:", ", ".join(sorted(node.name for node in notes)))
        deploys = laptop.list("learning").items[0]
        print("from another store:", len(laptop.why(deploys).origins) == 1)
        print("whole:", laptop.verify().ok)


if __name__ == "__main__":
    main()
