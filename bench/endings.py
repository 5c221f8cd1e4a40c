"""Which facts long talk ends: every ending in the conversations of a data set, for somebody to judge.

    python bench/endings.py FILE [--dataset locomo] [--rows OUT]

Histories of two statements cannot show what ends by accident, because they hold nothing else that could. Each
conversation is remembered in a store of its own, turn by turn (those of an assistant are left out), and what the
receipts say to be over is counted by its reason; with `--rows` each is written down beside the message that did it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from worldline import Config, Memory
from worldline.bench.datasets import Conversation, load

OVER = re.compile(r": (?P<reason>(?:ends|closes), .*)")
LONGEST = 700
"""So much of a message is remembered: what is pasted behind it is nobody's talk."""


def ended(talk: Conversation) -> Iterator[tuple[str, list[str]]]:
    """Each message that people said, and what it ended."""
    with Memory.open(":memory:", Config(embedder="none", log_uses=False)) as memory:
        for message in talk.messages:
            if message.role != "assistant":
                text = message.text[:LONGEST]
                done = memory.remember(
                    text, speaker=message.speaker, said_at=message.said_at, session=message.session
                )
                yield text, [change for change in done.changes if OVER.search(change)]


def main() -> int:
    """One line a reason, the most frequent first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--dataset", default="locomo")
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args()
    reasons, messages, rows = Counter[str](), 0, list[str]()
    for talk in load(options.dataset, options.file):
        print(talk.name, file=sys.stderr, flush=True)
        for text, over in ended(talk):
            messages += 1
            reasons.update(match["reason"] for change in over if (match := OVER.search(change)))
            rows += [json.dumps([text, over], ensure_ascii=False)] if over else []
    for reason, count in reasons.most_common():
        print(f"{count:6} {reason}")
    print(f"{reasons.total():6} facts ended by {messages:,} messages")
    if options.rows:
        options.rows.write_text("\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
