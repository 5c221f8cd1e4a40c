"""What somebody or something is called, and whose it is that is called so.

Names make things known: what somebody has is his ("Lena has a boat called Gull" tells of Lena's boat), and of any
cat called Tom that nobody is said to have it is only known that Tom is a cat.

    "We named the boat Calypso." → the boat is called Calypso
"""

from __future__ import annotations

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import Claim
from worldline.reading.clauses import Clause
from worldline.reading.nouns import Roles
from worldline.reading.parser import Noun


class Naming(Roles):
    """The part of a sentence's reader that knows names that are given."""

    def _named_pair(self, clause: Clause) -> list[Noun]:
        """What is given a name, and the name: "We named the boat Calypso", "we're going to call him Emil"."""
        things = [p.nouns[0] for p in clause.parts if not p.prep and p.nouns and not p.dated]
        return things if clause.lemma in _NAMING and len(things) == 2 and things[1].proper else []

    def _names_it(self, clause: Clause, thing: Noun, called: Noun) -> list[Claim]:
        phrase = "will be called" if clause.tense == "future" else "is called"
        claim = self._claim(self.whom(thing), phrase, "name", called.text, "entity", clause)
        return [replace(claim, holds="one", family="name")] if claim.subject and not clause.negated else []

    def _called(self, clause: Clause, noun: Noun, name: str) -> list[Claim]:
        """ "Rosa's husband is called Miguel", "a bakery called Crumb"."""
        part = next((p for p in clause.parts if not p.prep and p.kind in ("attribute", "object")), None)
        if clause.verb == "go":
            part = part or next((p for p in clause.parts if p.prep == "by" and p.nouns[0].proper), None)
        if part is None or not part.nouns:
            return []
        called = " and ".join(n.text for n in part.nouns if n.proper and not n.article) or part.nouns[0].text
        if clause.verb == "go" and not part.nouns[0].proper:
            return []
        owner, role = self._holder(noun)
        if not owner and clause.dep == "acl":
            owner, role = self._had(noun)
        if len(part.nouns) > 1 and self.tree.tokens[noun.at].dep == "conj":
            return []  # "a cat and a dog called Mia and Rex"
        if owner and role and self._is_person(noun):
            each = [n.text for n in part.nouns] if self._is_plural(noun, "") else [called]
            return [self._noun_claim(owner, role, one, "entity", clause) for one in each]
        somebody = clause.dep == "acl" and self._is_human(noun)
        if not owner and (somebody or noun.lemma in words("idle_nouns.txt")):
            return []
        anyone = clause.dep == "acl" and noun.indefinite
        if anyone and not owner:  # of any cat called Tom it is only known that Tom is a cat
            claims = (
                [self._claim(called, "is", "|be", noun.text, "text", clause)] if part.nouns[0].proper else []
            )
            return [replace(c, holds="many", matter=noun.lemma) for c in claims]
        thing = name if noun.pronoun else f"{owner}'s {noun.text}" if owner else noun.text
        several = self._is_plural(noun, thing)
        called = " and ".join(n.text for n in part.nouns) if several else called
        claim = self._claim(thing, "are called" if several else "is called", "name", called, "entity", clause)
        return [replace(claim, holds="many" if anyone else "one", family="name")]

    def _had(self, noun: Noun) -> tuple[str, str]:
        """Whose it is that is called so: "Lena has a cat called Mia", "my dog is a whippet called Zip"."""
        at = noun.at
        while self.tree.tokens[at].dep in ("conj", "appos", "oprd", "acl"):
            at = self.tree.tokens[at].head
        verb = next((c for c in self.clauses if c.at == self.tree.tokens[at].head), None)
        if verb is None or not verb.subjects or verb.negated or verb.over or verb.plan or verb.unreal:
            return "", ""
        if verb.verb == "be" and self.tree.tokens[at].dep == "attr":
            return self._holder(verb.subjects[0])
        owner = self.whom(verb.subjects[0]) if verb.lemma in _HAVING else ""
        past = verb.tense == "past" and verb.lemma in ("have", "own", "keep")
        role = noun.lemma if self._is_plural(noun, "") else noun.text
        return (owner, role) if owner and not past and verb.subjects[0].at < at else ("", "")

    def _is_plural(self, noun: Noun, name: str) -> bool:
        they = noun.text.lower() == "they" and name.endswith("s")
        return they or (self.tree.tokens[noun.at].tag == "NNS" and not noun.name)


_NAMING = frozenset({"name", "call", "christen"})
_HAVING = frozenset(
    "have get own keep run found start open launch buy adopt foster rescue build make write".split()
)
"""Whoever does this to a thing has it."""
