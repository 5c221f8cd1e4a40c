"""Where somebody is to be reached, told as an order: "Write to me at ana@example.org from now on".

An order is nothing to believe, except that whoever says where to write, call or send things says where
he or she is reached. What kind of address it is shows from its shape.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from worldline.reading.claim import Claim
from worldline.reading.clauses import Clause
from worldline.reading.nouns import Nouns

_SENDING = frozenset(
    "send write mail email e-mail post call ring phone text reach contact forward deliver ship message use".split()
)
_SHAPES = (
    ("email", re.compile(r"\S+@\S+\.\w+")),
    ("phone_number", re.compile(r"\+?\d[\d ()/-]{5,}\d")),
    (
        "postal_address",
        re.compile(r"\d+\w? [A-Z][\w'-]+(?: [A-Z][\w'-]+)*|[A-Z][\w'-]+(?: [A-Z][\w'-]+)+ \d+\w?"),
    ),
)


class Contacts(Nouns):
    """The part of a sentence's reader that knows orders where to send things."""

    def _reached_at(self, clause: Clause) -> list[Claim]:
        """Where the speaker, or whoever is named, is to be reached."""
        if clause.lemma not in _SENDING or clause.negated or clause.unreal or clause.quoted:
            return []
        nouns = [noun for part in clause.parts if not part.dated for noun in part.nouns]
        for noun in nouns:
            name = next((n for n, shape in _SHAPES if shape.fullmatch(noun.text)), "")
            if not name:
                continue
            family = self.families.all[name]
            others = (
                self.whom(n) for n in nouns if n is not noun and (n.proper or n.pronoun or self._is_person(n))
            )
            who = next((w for w in others if w and w != self.talk.addressee), self.talk.speaker)
            claim = self._claim(who, family.reads, name, noun.text, "text", None)
            return [replace(claim, family=name, holds="one", effect="begins", cue="closes")]
        return []
