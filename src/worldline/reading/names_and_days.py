"""Names and days: what somebody or something is called, whose it is that is called so, and what is on a day.

Names make things known: what somebody has is his ("Lena has a boat called Gull" tells of Lena's boat), and of any
cat called Tom that nobody is said to have it is only known that Tom is a cat.

    "We named the boat Calypso." → the boat is called Calypso

"I have an eye test on 3 May" and "my eye test is on 3 May" speak of one day, and whatever moves or cancels the test
speaks of it too. Who is moved to another day is moved with the appointment there.

    "My eye test is on 3 May", then "The optician moved me to 10 May" → the eye test's day is the 10th
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import Claim, is_given_name, is_somebody, predicate_key
from worldline.reading.clauses import Clause
from worldline.reading.matching import HABIT
from worldline.reading.nouns import Roles
from worldline.reading.parser import Noun, Token
from worldline.reading.whom import CLOCK

# Names ================================================================================================


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


# Days =================================================================================================

_DAY, _TIME, _WEEKLY = "scheduled_for", "meeting_time", "held_weekly_on"
_SAYING = frozenset({"VERB", "AUX", "PRON", "INTJ"})
"""With one of these it is more than a note."""
_NOTED = frozenset({"NOUN", "PROPN", "ADJ", "ADP", "NUM", "PART"})
_NOUNS = frozenset({"NN", "NNS", "NNP"})
_ENDS = frozenset({"NOUN", "PROPN", "ADJ"})
_ALOUD = re.compile(r"[?!]")
_LONGEST = 5
_NO_OCCASION = frozenset(
    "rain snow sun wind storm frost fog love kisses greetings cheers news happy merry home back off due".split()
)
_MOVING = frozenset("move reschedule push put shift postpone bring bump switch".split())
_APPOINTED = "appointment_date"
_TO = frozenset({"to", "for", "until", "till"})
_ME = (["me"], ["us"])
_SORTS = ("appointment", "session", "lesson", "check-up", "visit", "class")
"""What there may be with whom somebody goes to on a day."""


class Occasions(Naming):
    """The part of a sentence's reader that knows what is on a day."""

    def _noted_day(self) -> list[tuple[Claim, Noun]]:
        """ "Dentist on Tuesday at 9", "Bins on Thursdays", "Haircut Saturday 11am": a note of what is on a day."""
        tokens = self.tree.tokens
        weekly = {i: t.text for i, t in enumerate(tokens) if HABIT.fullmatch(t.low) and t.low.endswith("s")}
        days = {i: span.text for i, span in self.days.items()} or weekly
        if (
            not days
            or (self.talk.topic and (self.talk.topic in self.tree.text or days[min(days)][1:3].endswith(":")))
            or _ALOUD.search(self.tree.text)
            or any(t.pos in _SAYING for t in tokens)
        ):
            return []
        day, last = min(days), max(days)
        what = range(day - 1 if tokens[day].low != "on" and tokens[day - 1].low in ("on", ",") else day)
        time = self.tree.said(range(last + 1, len(tokens))).rstrip(" .").removeprefix("at ")
        if not self._is_occasion([tokens[i] for i in what]) or (time and not CLOCK.search(time)):
            return []
        noun = self.tree.noun(self.tree.root, self.days, deep=False)
        said, when = self.tree.said(what), days[day].removeprefix("on ")
        found = self._on_that_day(said, when, time, noun, weekly=not self.days)
        return [(claim, noun) for claim in found]

    def _on_that_day(
        self, said: str, day: str, time: str, noun: Noun, *, weekly: bool = False
    ) -> list[Claim]:
        """The claims of a note; whoever notes the dentist has an appointment there."""
        be = "are" if self.tree.tokens[noun.at].tag == "NNS" else "is"
        who = self._is_human(noun) or noun.lemma.lower() in words("professions.txt")
        kept = f"{said.lower()} appointment" if who and is_somebody(self.talk.speaker) else ""
        kept = "" if self.talk.topic else kept
        family = _WEEKLY if weekly else _DAY
        if kept and family == _DAY:
            claim = replace(
                self._noun_claim(self.talk.speaker, kept, day, "date"), predicate=f"'s {kept} is on"
            )
            said = f"{self.talk.speaker}'s {kept}"
        else:
            kind = "date" if family == _DAY else "text"
            if self.talk.topic:  # "Class 3B. Teacher Ms Moss. Trip to Lund on 3 June."
                said = f"{self.talk.topic}'s {said if said[1:2].isupper() else said[0].lower() + said[1:]}"
            claim = replace(self._claim(said, f"{be} on", family, day, kind, None), family=family)
        span = next((s for s in self.said.dates("future") if day in s.text), None)
        if span is not None:
            claim = replace(claim, valid_from=span.start, precision=span.precision)
        at = replace(self._claim(said, f"{be} at", _TIME, time, "text", None), family=_TIME)
        return [replace(c, holds="one", matter=noun.lemma) for c in ([claim, at] if time else [claim])]

    def _is_occasion(self, what: Sequence[Token]) -> bool:
        """Whether these words may be what is on a day: no greeting, no weather, nobody by a name alone."""
        root, noun = self.tree.tokens[self.tree.root], self.tree.noun(self.tree.root, self.days, deep=False)
        if root not in what or root.tag not in _NOUNS or any(t.pos not in _NOTED for t in what):
            return False
        named = noun.proper and is_given_name(noun.text.split()[0])
        idle = (
            self._is_idle(noun) or self._is_opinion(noun) or not _NO_OCCASION.isdisjoint(t.low for t in what)
        )
        return len(what) <= _LONGEST and not (idle or named) and {what[0].pos, what[-1].pos} <= _ENDS

    def _has_on(self, clause: Clause, name: str) -> list[Claim]:
        """ "I have a dentist appointment on 3 May at 9": the day of what somebody has then, and the time."""
        things = [
            n for p in clause.parts if not p.prep and p.kind == "object" and not p.dated for n in p.nouns
        ]
        told = clause.verb == "have" and clause.tense == "present" and not (clause.negated or clause.over)
        if not told or len(things) != 1 or not things[0].indefinite or self._is_human(things[0]):
            return []
        day, time = self._day_behind(clause, things[0])
        role = self.tree.short(things[0]).text
        if not day:
            return []
        claim = self._noun_claim(name, role, day, "date", clause)
        claim = replace(claim, predicate=f"{clause.reads} {role} on", matter=things[0].lemma)
        at = replace(self._claim(f"{name}'s {role}", "is at", _TIME, time, "text", clause), family=_TIME)
        return [claim, replace(at, holds="one")] if time else [claim]

    def _day_behind(self, clause: Clause, thing: Noun, *more: str) -> tuple[str, str]:
        """The day behind a thing and the time; none where more is told of it than these prepositions do."""
        led = [i for at in (clause.at, thing.at) for i in self.tree.kids(at, "prep")]
        behind = [(self.tree.tokens[i].low, self.tree.kid(i, "pobj")) for i in led]
        days = [self.days[at].text for prep, at in behind if prep == "on" and at in self.days]
        times = [self.tree.tokens[at].text for prep, at in behind if at is not None and prep == "at"]
        known = len(days) + len(times) + sum(prep in more for prep, _ in behind)
        if len(days) != 1 or known < len(behind) or not all(map(CLOCK.search, times)):
            return "", ""
        return days[0].removeprefix("on "), next(iter(times), "")

    def _there_is_on(self, clause: Clause) -> list[Claim]:
        """ "There's a fire drill on Thursday at 10"."""
        things = [n for p in clause.parts if p.kind == "attribute" for n in p.nouns]
        there = (
            self.tree.kid(clause.at, "expl") is not None and clause.verb == "be" and clause.tense == "present"
        )
        if (
            not there
            or clause.negated
            or len(things) != 1
            or self._is_idle(things[0])
            or things[0].pos == "NUM"
        ):
            return []
        day, time = self._day_behind(clause, things[0], "with", "for", "about")
        said = things[0].text.partition(" on ")[0].partition(" at ")[0]
        return self._on_that_day(said, day, time, things[0]) if day and not self._is_human(things[0]) else []

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
