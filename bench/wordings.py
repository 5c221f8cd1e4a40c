"""Which wordings of the table of families the reader misses: a plain sentence or two is made of each and read.

    python bench/wordings.py [--rows OUT] [--family NAME]

A wording that no sentence of its own words is read by is a line that does nothing. "S use O as phone" becomes "Rosa
uses Granta as her phone."; it counts as read if one of a few such sentences falls into its family, as the first one
that the words fit or as another. What is left is written to OUT, a JSON line each: family, wording, a sentence, and
what was read of it instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice, product
from pathlib import Path

from worldline.reading.claim import Claim
from worldline.reading.families import PREPOSITIONS, Family, families, past, third_person
from worldline.reading.read import ToRead, read_all
from worldline.rules.slots import sentence

OBJECTS: dict[str, Sequence[str]] = {
    "person": ["Miguel"], "place": ["Lisbon"], "organisation": ["Siemens"], "thing": ["Granta", "the kayak"],
    "goods": ["the kayak"], "text": ["Granta", "blue"], "date": ["12 May"], "time": ["9:30"],
    "weekday": ["Tuesdays", "Tuesday"], "duration": ["three weeks"], "money": ["£450"], "amount": ["66 kg", "40"],
    "count": ["14"], "state": ["paused"], "role": ["treasurer", "nurse"], "language": ["Spanish"], "food": ["rice"],
    "activity": ["climbing"], "animal": ["Biscuit"], "contact": ["rosa@mail.example", "555 0199"],
    "event": ["the conference"],
}  # fmt: skip
SUBJECTS = {"person": ["Rosa"], "thing": ["the Falcon project", "the bakery"], "any": ["Rosa", "the bakery"]}
SAME = frozenset("put cut set quit let hit cost shut read split".split())
DOUBLED = frozenset(
    "step drop stop swap plan ship tip slip snap strip top trim bin rob skip scrap wrap slim fit".split()
)
SMALL = PREPOSITIONS | frozenset("down back away across together ahead again home now no longer".split())
MOST = 8
SAID = datetime(2026, 3, 4, tzinfo=UTC)


def verb_of(word: str, effect: str) -> str:
    """A verb as a plain sentence has it: in the present for what is so, in the past for what begins and ends."""
    if word == "be":
        return "is" if effect == "states" else "was"
    if effect == "states":
        return third_person(word)
    return word if word in SAME else f"{word}{word[-1]}ed" if word in DOUBLED else past(word, word)


def sentences(family: Family, effect: str, wording: str) -> Iterator[str]:
    """A few plain sentences of a wording, with and without articles in front of its nouns."""
    words = wording.removesuffix("?").partition(" = ")[0].split()
    own = family.words[:2] if family.object in ("text", "state", "thing") else ()
    for subject, value in product(SUBJECTS[family.subject], own or OBJECTS.get(family.object, ["Granta"])):
        filled = {"S": [subject], "O": [value], "X": ["Carmen"]}
        parts: list[Sequence[str]] = []
        for at, (before, word) in enumerate(zip(["", *words], words, strict=False)):
            plain = word in SMALL or (at == 2 and before in ("be", "get", "become", "feel", "go"))
            noun = [word] if plain else [word, f"the {word}", f"a {word}", f"her {word}"]
            parts.append(filled.get(word) or ([verb_of(word, effect)] if at == 1 else noun))
        for made in islice(product(*parts), MOST):
            said = " ".join(made)
            yield f"{said[0].upper()}{said[1:]}."


def slots_of(claims: Sequence[Claim]) -> set[str]:
    """The families that claims fall into, or may."""
    return {
        key.removeprefix("was ").removeprefix("did ").partition(":")[0]
        for c in claims
        for key in (c.key, *c.others)
    }


def main() -> int:
    """How many wordings of each effect are not read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--family")
    options = parser.parse_args()
    asked = [f for f in families().all.values() if options.family in (None, f.name)]
    if not asked:
        parser.error(f"no family is called {options.family!r}")
    every, missed, rows = Counter[str](), Counter[str](), list[str]()
    for number, family in enumerate(asked, 1):
        if sys.stderr.isatty():
            print(f"\r{number} of {len(asked)} families", end="", file=sys.stderr)
        jobs = [
            (e, w, list(sentences(family, e, w)))
            for e in ("states", "begins", "ends")
            for w in getattr(family, e)
        ]
        texts = [text for *_, made in jobs for text in made]
        read = dict(zip(texts, read_all([ToRead(text, "Ben", "", SAID) for text in texts]), strict=True))
        for effect, wording, made in jobs:
            every[effect] += 1
            if all(family.name not in slots_of(read[text].claims) for text in made):
                missed[effect] += 1
                told = [sentence(c.subject, c.predicate, c.object) for c in read[made[0]].claims]
                rows.append(json.dumps([family.name, wording, made[0], told], ensure_ascii=False))
    for effect, count in every.items():
        print(f"{effect:8} {missed[effect]:5} of {count:5} wordings are not read")
    print(f"{'all':8} {missed.total():5} of {every.total():5}")
    if options.rows:
        options.rows.write_text("\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
