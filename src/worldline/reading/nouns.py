"""What nouns and adjectives say of somebody: "Ana's boss is Ben", "Ana is a nurse", "Ana is vegetarian".

A noun that names a family of relations brings its slot along; any other makes a slot of its own. Of
adjectives only those count that last: moods and opinions say nothing that could be kept.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import Claim, Effect, predicate_key
from worldline.reading.clauses import Clause, Part
from worldline.reading.cues import MONEY
from worldline.reading.matching import HABIT, Matching
from worldline.reading.tree import Noun


def what_of(clause: Clause) -> Noun:
    """The first subject of a clause."""
    return clause.subjects[0] if clause.subjects else Noun("", "", clause.at, (0, 0))


class Nouns(Matching):
    """The part of a sentence's reader that knows what nouns and adjectives say."""

    def _noun_claim(
        self,
        owner: str,
        role: str,
        value: str,
        kind: str,
        clause: Clause | None = None,
        what: Noun | None = None,
    ) -> Claim:
        """OWNER's ROLE is VALUE, in the family that the noun names, if one does."""
        role = role.lower() if not role[:2].isupper() else role
        tense = "was" if clause is not None and clause.tense == "past" else "is"
        phrase = f"'s {role} {tense}{' not' if clause is not None and clause.negated else ''}"
        key = predicate_key(role.split(), "of")
        claim = self._claim(owner, phrase, key, value, kind, clause)
        claim = replace(
            claim, holds="one", definite=True, matter=what.lemma if what is not None else value.lower()
        )
        for named in self.families.by_noun(role):
            family = named.family
            if family.object in ("date", "time") and kind != "date" and not re.search(r"\d", value):
                continue
            effect: Effect = "ends" if clause is not None and clause.over else "holds"
            key = (
                family.name
                if named.noun == role.lower()
                or (family.object in ("person", "animal") and " of " not in role)
                else f"{family.name}:{key}"
            )
            holds = (
                family.holds if family.object in ("person", "animal") or family.holds == "series" else "one"
            )
            found = replace(
                claim, family=family.name, key=key, holds=holds, fixed=not family.changes, effect=effect,
                cue="ends" if effect == "ends" else claim.cue,
            )  # fmt: skip
            return self._past(found, clause)
        return replace(claim, effect="ends", cue="ends") if clause is not None and clause.over else claim

    def _name_claim(self, name: str, called: str, clause: Clause | None) -> Claim:
        if name != self.talk.speaker:
            self.talk.person = called
        return replace(
            self._claim(name, "is called", "name", called, "text", clause), family="name", holds="many"
        )

    def _attribute(
        self, name: str, what: Noun, reads: str, clause: Clause | None = None, part: Part | None = None
    ) -> Claim | None:
        """ "Ana is a nurse", "the meeting room is B12"."""
        value, kind = self._value(what, part, name)
        if not value or len(value.split()) > 9 or self._is_opinion(what):
            return None
        if (
            MONEY.search(value)
            and part is not None
            and not part.dated
            and name != self.talk.speaker
            and clause is not None
        ):
            amounts = [
                n.family for n in self.families.by_noun(name) if n.family.object in ("amount", "money")
            ]
            named = next(iter(amounts), None)
            price = named or self.families.all["price"]
            return self._with_family(
                self._claim(name, reads, price.name, value, "text", clause), price, "holds", clause, what
            )
        if (
            clause is not None
            and what.pos == "NUM"
            and value.isdigit()
            and self._is_who(what_of(clause), name) == "person"
        ):
            age = self.families.all["age"]
            return self._with_family(
                self._claim(name, reads, "age", value, "text", clause), age, "holds", clause, what
            )
        for word in (value.lower(), what.lemma.lower()):
            for family in self.families.by_word(word):
                claim = self._claim(name, reads, family.name, value, "text", clause)
                return self._with_family(claim, family, "holds", clause, what) if clause else replace(
                    claim, family=family.name, holds=family.holds)  # fmt: skip
        claim = self._claim(
            name, reads, "|be", value, "date" if part is not None and part.dated else kind, clause
        )
        if what.lemma in words("professions.txt") or re.search(r"(?:ist|ician|eer)$", what.lemma):
            return self._profession(claim, clause, what)
        if clause is not None and clause.over:
            return replace(claim, effect="ends", cue="ends", matter=what.lemma)
        definite = not what.indefinite and name != self.talk.speaker
        claim = self._past(claim, clause)
        return replace(
            claim,
            definite=definite,
            holds="one" if definite and not what.article else "many",
            matter=what.lemma,
        )

    def _is_opinion(self, what: Noun) -> bool:
        """ "a great city", "the worst day of my life"."""
        near = self.tree.kids(what.at, "amod") if what.chars != (0, 0) else []
        said = {what.text.lower(), *(self.tree.tokens[i].low for i in near)}
        return not what.proper and not said.isdisjoint(words("opinion_adjectives.txt"))

    def _profession(self, claim: Claim, clause: Clause | None, what: Noun) -> Claim:
        family = self.families.all["works_as"]
        over = clause is not None and clause.over
        if clause is not None and clause.tense == "past" and not over:
            return self._former(claim, family, what)
        claim = replace(
            claim, family=family.name, key=family.name, holds="many", kind="text", matter=what.lemma
        )
        return replace(claim, effect="ends", cue="ends") if over else claim

    def _in_state(self, clause: Clause, name: str) -> list[Claim]:
        """ "is vegetarian", "is pregnant": only states that last, not moods and opinions."""
        word = clause.word
        at = self.tree.kid(clause.at, "acomp") or clause.at
        if self.tree.tokens[at - 1].low == "so":
            return []  # "he is so over this job"
        behind = [p for p in clause.parts if p.prep and not p.dated and p.nouns]
        named = any(n.proper or HABIT.match(n.text) for p in behind for n in p.nouns)  # "closed on Fridays"
        for family in self.families.by_word(word) if not named else ():
            claim = self._claim(
                name, clause.reads.removesuffix(f" {word}"), family.name, word, "text", clause
            )
            lasts = clause.lemma in ("stay", "remain") or (
                clause.verb.startswith("be ") and clause.tense == "present"
            )
            effect: Effect = "holds" if lasts or clause.lemma == "be" else "begins"
            if effect == "begins" and not clause.negated and not clause.verb.startswith("be "):
                claim = replace(claim, predicate=family.reads if family.reads != word else "is")
            return [self._with_family(claim, family, effect, clause, Noun(word, word, clause.at, (0, 0)))]
        part = next(iter(behind), None)
        fears = word in ("afraid", "scared", "terrified") and part is not None and part.prep == "of"
        if part is not None and (
            (named and self.families.by_word(word)) or fears or word not in words("mood_adjectives.txt")
        ):
            found = []
            for noun in part.nouns:
                value, kind = self._value(noun, part, name)
                if value:
                    key = predicate_key([word], part.prep)
                    found.append(self._claim(name, f"{clause.reads} {part.prep}", key, value, kind, clause))
            if found or word not in words("lasting_adjectives.txt"):
                return found
        if word in words("lasting_adjectives.txt"):
            claim = self._claim(name, clause.reads.removesuffix(f" {word}"), "|be", word, "text", clause)
            return [replace(claim, holds="many")]
        return []

    def _reached_at(self, clause: Clause) -> list[Claim]:
        """Where somebody is to be reached: "Write to me at ana@example.org" is the one order that tells a fact."""
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
"""What kind of address something is shows from its shape."""
