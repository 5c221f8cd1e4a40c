"""Whom the words of a sentence mean, and how its values are kept.

Within one message only: pronouns stand for whoever was spoken of last, "my" and "our" for the one
who speaks. Where that is not safe the answer is empty, and nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from worldline.dates import DateSpan, find_dates
from worldline.lexicon import words
from worldline.reading.claim import Claim, is_given_name
from worldline.reading.clauses import Clause, Part
from worldline.reading.families import Families, Family, families
from worldline.reading.parser import Noun, Tree

ME = frozenset("i me my mine we us our ours myself ourselves i'm".split())
YOU = frozenset("you your yours yourself".split())
THEY = frozenset("he she him her his hers they them their theirs himself herself".split())
IT = frozenset("it its itself this that these those".split())
NUMBER = re.compile(r"\d|^(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
                     r"fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|dozen)\b", re.I)  # fmt: skip
CLOCK = re.compile(
    r"^\d{1,2}(?::\d\d|\.\d\d)?\s*(?:am|pm|o'clock|h)?$|\bnoon\b|\bmidnight\b|^(?:half |quarter )?(?:past |to )?"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: (?:thirty|fifteen|am|pm|o'clock))?$",
    re.I,
)
FRESH = re.compile(r"^(?:new|current|old|latest|present|own|former|previous|first)\s+", re.I)
SURE, UNSURE = 0.9, 0.6
WAS = "was "
"""Opens the slot of what held once."""
_IN = frozenset("in at from on into near".split())
_PLACING = frozenset("go move travel fly drive head come return relocate get walk leave be take work".split())
""" "moved to Porto" and "works for Siemens", but "reports to Leena"."""
_OF_EACH = re.compile(r" of (?:the|each|every) (?:month|week|quarter|year)\b", re.I)
_MADE_NAMES = frozenset("day night evening morning guy man woman lady".split())
""" "games night" and "the boiler guy" name something, "last night" does not."""
_TENSES: dict[str, Literal["past", "future"]] = {"past": "past", "perfect": "past", "future": "future"}


class Talk(Struct):
    """Who speaks to whom, and of whom the message spoke last."""

    speaker: str
    addressee: str = ""
    person: str = ""
    thing: str = ""
    topic: str = ""
    """Whom a note is about, where it says so first."""
    begun: bool = False
    """Whether a sentence was read that could have said so."""
    names: list[str] = []
    """Names outside of places: whoever is "she" where only one was said."""
    named: dict[str, str] = {}
    """Roles that the message itself filled: "sister" → Rosa."""


_OF_A_WEEKDAY = re.compile(r"(?:every )?(?:mon|tues|wednes|thurs|fri|satur|sun)day \w+s$", re.I)
"""Sunday mornings are no idle morning."""


class Said(Struct, frozen=True):
    """A sentence with its place in the message and the dates in it."""

    tree: Tree
    begin: int
    said_at: datetime | None = None

    def dates(self, tense: str = "") -> list[DateSpan]:
        """The dates in it, with their characters counted from its first."""
        if self.said_at is None:
            return []
        return find_dates(self.tree.text, self.said_at, tense=_TENSES.get(tense, ""))


class Whom:
    """One sentence being read: the tree, its dates, and who is who."""

    def __init__(self, said: Said, talk: Talk) -> None:
        self.said, self.tree, self.talk = said, said.tree, talk
        self.families: Families = families()
        self.days = self._days()
        self.found: list[Claim] = []
        self.clauses: list[Clause] = []
        self.known: dict[int, str] = {}  # whom the nouns of this sentence mean, by place
        self.recent = ""  # who was named by a role just before, in this sentence
        self.subject: Noun | None = None  # of the clause at hand
        self.doing = ""  # whom the clause at hand is about: "his" in "Theo broke his ankle"

    def _days(self) -> dict[int, DateSpan]:
        """The places of words inside dates."""
        found: dict[int, DateSpan] = {}
        for span in self.said.dates():
            if CLOCK.fullmatch(span.text.strip()) or _OF_EACH.match(self.tree.text, span.chars[1]):
                continue  # a time of day is a value, and so is the last day of the month
            for place, token in enumerate(self.tree.tokens):
                if span.chars[0] <= token.begin - self._offset < span.chars[1]:
                    found[place] = span
        return found

    @property
    def _offset(self) -> int:
        return self.tree.tokens[0].begin if self.tree.tokens else 0

    def whom(self, noun: Noun) -> str:
        """The name of whom a noun means; empty where that cannot be told."""
        low = noun.text.lower()
        if noun.pronoun or low in ME | YOU | THEY:
            return self._pronoun(low)
        if noun.owner.lower() in THEY and noun.at in self.known:
            return self.known[noun.at]  # "his daughter got in and starts in May" is one daughter
        found = self._noun_means(noun, low)
        return self.known.setdefault(noun.at, found) if found else ""

    def _noun_means(self, noun: Noun, low: str) -> str:
        if noun.name and not noun.proper and noun.lemma in ("man", "woman", "guy", "lady", "person"):
            return noun.name
        if noun.text != "IT" and (low in IT or low in words("idle_nouns.txt") or self._is_idle(noun)):
            return ""
        _role, name = self.tree.role_in_front(noun.at)
        if name:
            return name
        owner = self._owner(noun.owner) or self._whose_is(noun)
        if noun.name and not noun.proper:
            return noun.name
        if noun.owner and not owner:
            return ""
        if owner and not noun.proper:
            return self.talk.named.get(f"{owner}|{noun.lemma}") or f"{owner}'s {FRESH.sub('', noun.text)}"
        named = noun.proper and self.tree.tokens[noun.at].pos == "PROPN"
        text = self.tree.short(noun).text if named and " of " not in noun.text else noun.text
        return f"{owner}'s {text}" if owner else text

    def _whose_is(self, noun: Noun) -> str:
        """ "Bashir, whose wife runs a shop": the clause hangs on whose it is."""
        verb = next((i for i in self.tree.above(noun.at) if self.tree.tokens[i].dep == "relcl"), None)
        if verb is None or noun.owner.lower() != "whose":
            return ""
        return self.whom(self.tree.noun(self.tree.tokens[verb].head, self.days))

    def _is_idle(self, noun: Noun) -> bool:
        """Whether a noun names nothing; "games night" does, "last night" does not."""
        named = noun.lemma in _MADE_NAMES and self.tree.kids(noun.at, "compound")
        return noun.lemma in words("idle_nouns.txt") and not named

    def _pronoun(self, low: str) -> str:
        if low in ME:
            return self.talk.speaker
        if low in YOU:
            return self.talk.addressee
        if low in THEY:
            kind = (self.talk.thing.lower().split() or [""])[-1]
            animal = kind in words("person_roles.txt") or kind in words("animals.txt")
            group = self.talk.thing[:1].isupper() and not is_given_name(self.talk.thing.split()[0])
            plural = kind.endswith("s") and not kind.endswith(("ss", "us", "is"))
            several = low in ("they", "them", "their") and (plural or group)
            alone = self.talk.names[0] if len(self.talk.names) == 1 and not low.startswith("the") else ""
            if low.startswith("the"):
                return self.talk.thing if several else ""
            return self.talk.person or (self.talk.thing if animal or several else alone)
        return self.talk.thing if low in ("it", "its") else ""

    def _owner(self, said: str) -> str:
        """Whom a possessive means: "my", "her", "Rosa's", "my boss's"."""
        if not said:
            return ""
        low = said.lower()
        if low == "whose":
            return ""
        if low in THEY | {"its"} and self.doing not in ("", self.talk.speaker, self.talk.addressee):
            return self.doing
        if low in ME | YOU | THEY | IT:
            return self._pronoun(low)
        first, _, rest = said.partition(" ")
        if rest and first.lower() in ME | YOU | THEY:
            inner = self._pronoun(first.lower())
            return (self.talk.named.get(f"{inner}|{rest}") or f"{inner}'s {rest}") if inner else ""
        return said

    def _note_all(self, clause: Clause, subjects: Sequence[tuple[Noun, str]]) -> None:
        """The subject first; what else a clause names counts where the subject is nothing of the kind."""
        for noun, name in subjects:
            self._note(noun, name)
        mine = all(name == self.talk.speaker for _, name in subjects)
        thing = any(name and name == self.talk.thing for _, name in subjects)
        behind = [
            (part, noun)
            for part in sorted(clause.parts, key=lambda p: bool(p.prep))
            for noun in part.nouns
            if not part.dated and part.prep != "from" and noun.pos in ("NOUN", "PROPN")
        ]
        for part, noun in behind:
            person = self._is_who(noun, noun.text) == "person"
            first = person and noun.proper and not self.talk.person
            if first or (mine and (person or (part.kind == "object" and noun.proper))):
                self.talk.person = self.whom(noun) or self.talk.person
            if not thing and not person and not NUMBER.match(noun.text) and (name := self.whom(noun)):
                self.talk.thing, thing = name, True

    def _note_names(self, end: int) -> None:
        for at, token in enumerate(self.tree.tokens[:end]):
            prep = self.tree.tokens[token.head]
            going = self.tree.tokens[prep.head].lemma in _PLACING
            placed = token.dep == "pobj" and (prep.low in _IN or (prep.low in ("to", "for") and going))
            if token.pos != "PROPN" or token.dep == "compound" or placed or at in self.days:
                continue
            name = self.tree.short(self.tree.noun(at, self.days, deep=False)).text
            if name not in (*self.talk.names, self.talk.speaker, self.talk.addressee) and not NUMBER.search(
                name
            ):
                self.talk.names.append(name)

    def _note(self, noun: Noun, name: str) -> None:
        """Remembers who was spoken of, for the pronouns that follow."""
        if not name or name in (self.talk.speaker, self.talk.addressee):
            return
        kind = self._is_who(noun, name)
        if kind != "person" and noun.owner.rpartition(" ")[2].lower() in words("person_roles.txt"):
            self.talk.person = self.talk.person or self._owner(
                noun.owner
            )  # "my daughter's school … her teacher"
        if noun.proper or noun.name or noun.lemma in words("person_roles.txt"):
            self.talk.person = name
        if noun.pos in ("NOUN", "PROPN") and kind != "person" and not NUMBER.match(name):
            self.talk.thing = name

    def _is_person(self, noun: Noun) -> bool:
        return noun.lemma in words("person_roles.txt") or any(
            n.family.object in ("person", "animal") for n in self.families.by_noun(noun.lemma)
        )

    def _is_human(self, noun: Noun) -> bool:
        """Somebody by a role or a calling, and no animal."""
        called = self._is_person(noun) or noun.lemma in words("professions.txt")
        return called and noun.lemma not in words("animals.txt")

    def _is_who(self, noun: Noun, name: str) -> str:
        """person, thing, or nothing known."""
        if noun.pronoun or name == self.talk.speaker or self._is_person(noun) or noun.name:
            return "person" if noun.text.lower() not in IT else "thing"
        first = name.split()[0].lower().rstrip(".") if name else ""
        if noun.proper and not self.tree.tokens[noun.at].text.islower():
            return "person" if is_given_name(first) or first in words("titles.txt") else ""
        return "thing"

    def _holder(self, noun: Noun) -> tuple[str, str]:
        """Whose what: "my boss" → me, boss; "the deadline for the draft" → draft, deadline; "home" is mine."""
        if noun.text.lower() == "home" and not noun.article:
            return self.talk.speaker, "home"
        if self.doing and noun == self.subject:
            doing, self.doing = self.doing, ""
            found = self._holder(noun)  # "her" in "her name is Comet" is not the name
            self.doing = doing
            return found
        ours = noun.owner.lower() in ("our", "the") and noun.of is not None
        if noun.owner and not ours:
            owner = self._owner(noun.owner)
            return owner, FRESH.sub("", noun.text) if owner else ""
        if noun.of is not None and not noun.of.pronoun:
            inner = self.whom(noun.of)
            role = FRESH.sub("", self.tree.short(noun).text)
            known = bool(self.families.by_noun(role)) or noun.article == "the" or noun.at == 0
            called = noun.proper and not self.families.by_noun(role)  # but "CEO of the club"
            return (inner, role) if inner and known and not called else ("", "")
        return "", ""

    def _value(
        self, noun: Noun, part: Part | None, subject: str, family: Family | None = None
    ) -> tuple[str, str]:
        """An object as it is kept, and its kind."""
        if part is not None and part.dated:
            said = self.days[noun.at].text if noun.at in self.days else noun.text
            ranged = said.startswith("from ") or part.prep == "to"
            if ranged and " to " in said and part.prep in ("to", "from"):
                said = said.rpartition(" to ")[2]
            return said.removeprefix(f"{part.prep} ").strip(" .,"), "date"
        low = noun.text.lower()
        if noun.text != "IT" and (noun.pronoun or low in ME | YOU | THEY | IT):
            return self._pronoun(low), "entity"
        idle = noun.lemma != "IT" and (
            low in words("idle_nouns.txt") or noun.lemma in words("idle_nouns.txt")
        )
        if idle and not NUMBER.match(noun.text) and not _OF_A_WEEKDAY.match(noun.text):
            return noun.name or self.tree.called(noun.at), "entity"
        _role, name = self.tree.role_in_front(noun.at)
        if name:
            return name, "entity"
        told = part is not None and part.kind != "attribute"  # "is a nurse called Ida" tells what she is
        whom = told and (family is None or family.object == "person")
        called = self.tree.called(noun.at) if whom else ""
        if not noun.proper and ((noun.name and self._is_person(noun)) or (called and self._is_human(noun))):
            return noun.name or called, "entity"
        owner = self._owner(noun.owner)
        if noun.owner and not owner:
            return "", ""
        if owner and owner != subject and not (noun.proper and noun.text.startswith(owner)):
            return f"{owner}'s {noun.text}", "entity"
        if NUMBER.match(noun.text) and not noun.proper:
            return noun.text, "text"
        named = noun.proper or (family is not None and family.object in ("person", "place", "organisation"))
        return noun.text, "entity" if named else "text"

    def _claim(
        self, subject: str, phrase: str, key: str, value: str, kind: str, clause: Clause | None
    ) -> Claim:
        claim = Claim(
            subject, phrase, key, value, kind=kind, confidence=SURE, of_speaker=subject == self.talk.speaker
        )
        if clause is None:
            return claim
        cue = "adds" if clause.also else "closes" if clause.now else ""
        once = clause.negated and clause.tense in ("past", "perfect")
        return replace(
            claim, negated=clause.negated, event=once, confidence=UNSURE if clause.doubtful else SURE, cue=cue
        )

    def _former(self, claim: Claim, family: Family, o: Noun) -> Claim:
        """ "worked at Siemens": not what holds now; with both dates it takes its place among what held."""
        return replace(claim, family=family.name, key=f"{WAS}{family.name}", holds="many", matter=o.lemma)

    def _past(self, claim: Claim, clause: Clause | None) -> Claim:
        """What was so once does not touch what is so."""
        if clause is None or clause.tense != "past" or claim.fixed or claim.effect == "ends":
            return claim
        return replace(claim, key=f"{WAS}{claim.key}")

    def _joined_by(self, noun: Noun) -> str:
        """The preposition between a noun and what it is one of: "head of sales", "buyer for Tesco"."""
        for i in self.tree.kids(noun.at, "prep"):
            if noun.of is not None and self.tree.kid(i, "pobj") == noun.of.at:
                return self.tree.tokens[i].low
        return "of"
