"""Appointments: what somebody has on a day, and what becomes of the day.

"I have an eye test on 3 May" and "my eye test is on 3 May" speak of one day, and whatever moves or cancels the test
speaks of it too. Who is moved to another day is moved with the appointment there.

    "My eye test is on 3 May", then "The optician moved me to 10 May" → the eye test's day is the 10th
"""

from __future__ import annotations

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import Claim, predicate_key
from worldline.reading.clauses import Clause
from worldline.reading.naming import Naming
from worldline.reading.parser import Noun

_TIME = "meeting_time"
_MOVING = frozenset("move reschedule push put shift postpone bring bump switch".split())
_APPOINTED = "appointment_date"
_TO = frozenset({"to", "for", "until", "till"})
_ME = (["me"], ["us"])
_SORTS = ("appointment", "session", "lesson", "check-up", "visit", "class")
"""What there may be with whom somebody goes to on a day."""


class Occasions(Naming):
    """The part of a sentence's reader that knows what is on a day."""

    def _has_on(self, clause: Clause, name: str) -> list[Claim]:
        """ "I have a dentist appointment on 3 May at 9": the day of what somebody has then, and the time."""
        things = [
            n for p in clause.parts if not p.prep and p.kind == "object" and not p.dated for n in p.nouns
        ]
        if (
            clause.verb != "have"
            or clause.tense != "present"
            or len(things) != 1
            or clause.negated
            or clause.over
        ):
            return []
        thing = things[0]
        led = [i for at in (clause.at, thing.at) for i in self.tree.kids(at, "prep")]
        behind = [(self.tree.tokens[i].low, self.tree.kid(i, "pobj")) for i in led]
        day = next((at for prep, at in behind if prep == "on" and at in self.days), None)
        times = [at for prep, at in behind if at is not None and prep == "at" and self._is_time(at)]
        if day is None or len(behind) > 1 + len(times) or not thing.indefinite or self._is_human(thing):
            return []
        role, when = self.tree.short(thing).text, self.days[day].text.removeprefix("on ")
        claim = self._noun_claim(name, role, when, "date", clause)
        found = [replace(claim, predicate=f"{clause.reads} {role} on", matter=thing.lemma)]
        for at in times:
            time = self._claim(f"{name}'s {role}", "is at", _TIME, self.tree.tokens[at].text, "text", clause)
            found.append(replace(time, family=_TIME, holds="one"))
        return found

    def _is_time(self, at: int) -> bool:
        """Whether a number stands there that is no part of a date."""
        return self.tree.tokens[at].pos == "NUM"

    def _moved_along(self, clause: Clause, noun: Noun) -> list[Claim]:
        """ "The dentist moved me to 10 May": the day of the appointment there."""
        whom = [n for p in clause.parts if not p.prep and not p.dated for n in p.nouns]
        when = next((p for p in clause.parts if p.dated and _TO.intersection(p.prep.split()[-1:])), None)
        done = clause.lemma in _MOVING and clause.tense in ("past", "perfect") and not clause.negated
        if (
            not done
            or when is None
            or [n.text.lower() for n in whom] not in _ME
            or not self._gives_days(noun)
        ):
            return []
        kept = f"{noun.lemma} appointment"
        value = self._value(when.nouns[0], when, self.talk.speaker)[0]
        claim = self._noun_claim(self.talk.speaker, kept, value, "date", None, when.nouns[0])
        others = tuple(predicate_key([noun.lemma, sort], "of") for sort in _SORTS)
        said = f"'s {kept} was {self._participle(clause)} {when.prep}"
        return [replace(claim, predicate=said, effect="begins", cue="closes", others=(_APPOINTED, *others))]

    def _participle(self, clause: Clause) -> str:
        """ "moved", "put back"."""
        verb = self.tree.tokens[clause.at]
        return f"{verb.low} {clause.verb.partition(' ')[2]}".strip()

    def _gives_days(self, noun: Noun) -> bool:
        """Whether somebody may have an appointment there: neither with his family nor with his boss."""
        named = {n.family.name for n in self.families.by_noun(noun.lemma)}
        own = noun.lemma in words("kin.txt") or "reports_to" in named
        return not (own or noun.proper or noun.pronoun or noun.name)
