"""Whom the words of a sentence mean, and which families of relations a clause falls into.

Within one message only: pronouns stand for whoever was spoken of last, "my" and "our" for the one
who speaks. Where that is not safe the answer is empty, and nothing is claimed.

Families are decided by the patterns of `lexicon/families.toml`; an object must be of a kind that the family can
hold, a subject a person or a thing where only one of them will do. The first family that fits wins;
others that fit are kept beside it, for one of them may already hold something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from worldline.dates import DateSpan, find_dates
from worldline.lexicon import everyday, words
from worldline.reading.claim import MONEY, Claim, Effect, is_given_name, stem
from worldline.reading.clauses import Clause, Part
from worldline.reading.families import Families, Family, Pattern, families, members
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
            if CLOCK.fullmatch(span.text.strip()):
                continue  # a time of day is a value
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
        if noun.proper or noun.name or noun.lemma in words("person_roles.txt"):
            self.talk.person = name
        if noun.pos in ("NOUN", "PROPN") and kind != "person" and not NUMBER.match(name):
            self.talk.thing = name

    def _is_person(self, noun: Noun) -> bool:
        return noun.lemma in words("person_roles.txt") or any(
            n.family.object in ("person", "animal") for n in self.families.by_noun(noun.lemma)
        )

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
            return (inner, role) if inner and known and not noun.proper else ("", "")
        return "", ""

    def _value(
        self, noun: Noun, part: Part | None, subject: str, family: Family | None = None
    ) -> tuple[str, str]:
        """An object as it is kept, and its kind."""
        if part is not None and part.dated:
            said = self.days[noun.at].text if noun.at in self.days else noun.text
            if said.startswith("from ") and " to " in said and part.prep in ("to", "from"):
                said = said.rpartition(" to ")[2]
            return said.removeprefix(f"{part.prep} ").strip(" .,"), "date"
        low = noun.text.lower()
        if noun.text != "IT" and (noun.pronoun or low in ME | YOU | THEY | IT):
            return self._pronoun(low), "entity"
        idle = noun.lemma != "IT" and (
            low in words("idle_nouns.txt") or noun.lemma in words("idle_nouns.txt")
        )
        if idle and not NUMBER.match(noun.text):
            return noun.name or self.tree.called(noun.at), "entity"
        _role, name = self.tree.role_in_front(noun.at)
        if name:
            return name, "entity"
        if noun.name and not noun.proper and self._is_person(noun):
            return noun.name, "entity"
        owner = self._owner(noun.owner)
        if noun.owner and not owner:
            return "", ""
        if owner and owner != subject and not (noun.proper and noun.text.startswith(owner)):
            return f"{owner}'s {noun.text}", "entity"
        if NUMBER.match(noun.text) and not noun.proper:
            return noun.text, "text"
        person = family is not None and family.object in ("person", "place", "organisation")
        return noun.text, "entity" if noun.proper or person else "text"

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


# Which families a clause falls into ------------------------------------------------------------------


STATES = {
    "lives_in": frozenset({"move", "relocate"}),
    "works_at": frozenset({"join", "start", "begin"}),
}
"""Beginnings that are told as the state that they bring about."""
_VAGUE = frozenset({"be on", "be in", "be at", "be with", "be for", "be under"})
_WEAK = frozenset("have take get make do go give leave see bring keep use want need know be".split())
HABIT = re.compile(
    r"^(?:(?:every|each) )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|^weekdays?$|^weekends?$", re.I
)
_CODED = re.compile(r"[^\W\d_]{2,}[-_.]?\d|\w@\w")
"""Letters right in front of figures: a code and no amount."""
_BARE = re.compile(
    r"[~≈]?\d[\d,.]*\s?(?:k|m|bn|thousand|million|grand|hundred)?(?:\s?(?:/|(?:a|an|per|each|every)\b|monthly|yearly|plus).*)?$"
    r"|(?:[a-z]+[ -])?(?:hundred|thousand|million|grand)$|nothing$|zero$|free$", re.I,
)  # fmt: skip
"""A number without a unit: of money, where money is spoken of."""
_TIMED = re.compile(
    r"\b(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|nights?|days?|weeks?|months?|years?|terms?|semesters?|decades?|"
    r"fortnights?|quarters?)\b|\d\s?(?:h|s|d|y|min)\b|\d:\d\d", re.I,
)  # fmt: skip
_COUNTED = re.compile(r"[$€£¥~]?\d")
_GOING = frozenset("go head return come fly travel drive".split())
"""Who does this for good has moved."""
_LAID_AT = frozenset({"at", "under"})
_LAID = _LAID_AT | frozenset({"in", "on", "with"})
"""Who left something there has it still."""
_TOWARDS = frozenset("into to at in from for on".split())
PLACED = "be|where"
"""The slot of where a thing is, whatever the preposition."""
_WEEKLY = {"held_weekly_on", "meeting_time"}
"""Said in one breath: "Practice is on Tuesdays at seven"."""
AMOUNTS = frozenset({"amount", "count", "duration", "money"})
_PROPER = frozenset({"person", "place", "organisation"})
_NAMED = frozenset("person place organisation animal language activity food role".split())
"""What goes by a name, not by a number."""


class Matching(Whom):
    """The part of a sentence's reader that knows the families."""

    def _split_objects(self, clause: Clause) -> Clause:
        """ "work as a nurse at the clinic": what hangs on the object may belong to the verb."""
        parts: list[Part] = []
        for part in clause.parts:
            extra: list[Part] = []
            nouns = []
            for noun in part.nouns:
                for i in self.tree.kids(noun.at, "prep"):
                    inner, prep = self.tree.kid(i, "pobj"), self.tree.tokens[i].low
                    which = part.prep in _TOWARDS and prep in ("in", "on", "near", "to")
                    if (
                        inner is None
                        or inner in self.days
                        or (which and self.tree.tokens[inner].pos == "PROPN")
                    ):
                        continue  # "a bank in Zurich", "on the ferry to Malta"
                    whole = f"{clause.verb} {noun.lemma} {prep}"
                    if self.families.by_verb(f"{clause.verb} {prep}") or self.families.by_verb(whole):
                        extra.append(Part(prep, tuple(self.tree.noun(j, self.days) for j in self.tree.members(inner)),
                                          False, "split"))  # fmt: skip
                cut = extra and not part.dated and not self._has_role(clause, noun)
                nouns.append(self.tree.short(noun) if cut else noun)
            parts += [replace(part, nouns=tuple(nouns)), *extra]
        return replace(clause, parts=tuple(parts))

    def _has_role(self, clause: Clause, noun: Noun) -> bool:
        """ "is our head of sales", "is the captain of the team": what stands behind "of" belongs to the role."""
        return clause.verb == "be" and noun.of is not None and bool(noun.owner or noun.article == "the")

    def _in_families(self, clause: Clause, noun: Noun, name: str) -> list[Claim]:
        """The claims of every family that the clause falls into; the first one wins its object."""
        found: list[Claim] = []
        taken: list[tuple[str, str]] = []
        for verb, used, last in self._verbs(clause):
            for pattern in self.families.by_verb(verb):
                if (pattern.subject == "X" and pattern.effect == "holds" and name) or (
                    pattern.subject != "X" and not name
                ):
                    continue
                for claim in self._matched(pattern, clause, (noun, name), used, last):
                    one, other = (
                        e.removeprefix(f"{name}'s ") for e in (claim.subject, claim.object or claim.key)
                    )
                    if not any(
                        _is_same(pair, (one, other)) or _is_same(pair, (other, one)) for pair in taken
                    ):
                        taken.append((one, other))
                        found.append(claim)
                    else:
                        found = [_with_other(c, claim, self.families) for c in found]
            if used is not None and last is None and any(c.object for c in found):
                break
        told = {c.key for c in found if c.object}
        days = tuple(span.text for span in self.days.values()) or ("\n",)
        found = [c for c in found if c.object or c.key not in told]
        found = [c for c in found if not (c.predicate.startswith("{O}") and c.subject.startswith(days))]
        found = [c for c in found if c.kind != "date"] or found
        if found and all(c.kind == "date" and c.effect != "ends" for c in found) and self._has_place(clause):
            return []  # "died on 12 May in Graz": the date is its date
        if clause.verb == "be" and len({c.key for c in found}) > 1:
            return found[:1] + [c for c in found[1:] if {c.key, found[0].key} == _WEEKLY]
        return found

    def _has_place(self, clause: Clause) -> bool:
        """Whether a name stands behind "in" or "at" beside the date, or who did it."""
        return any(
            (p.prep == "by" or (p.prep in ("in", "at") and any(n.proper for n in p.nouns))) and not p.dated
            for p in clause.parts
        )

    def _verbs(self, clause: Clause) -> Iterator[tuple[str, Part | None, Part | None]]:
        """The words of the clause in which a pattern may be found, longest first.

        With them: the object that is one of the words ("take charge"), and the part behind the preposition.
        """
        verbs: list[tuple[str, Part | None]] = [
            (f"{clause.verb} {said}", part)
            for part in clause.parts
            if not part.prep and part.nouns and part.kind in ("object", "attribute")
            for said in dict.fromkeys(
                (part.nouns[0].text.lower(), part.nouns[0].lemma)
            )  # "head office", "office"
        ]
        if self.tree.tokens[clause.at].tag == "VBG" and clause.tense == "present":
            verbs.append((f"be {self.tree.tokens[clause.at].low}", None))  # "is seeing", "is expecting"
        verbs.append((clause.verb, None))
        if clause.verb.startswith("get "):
            verbs.append((f"be {clause.verb[4:]}", None))
        if clause.lasting and clause.lemma in _GOING:
            verbs.insert(0, ("move", None))
        for verb, used in verbs:
            for part in clause.parts:
                if part.prep:
                    yield f"{verb} {part.prep}", used, part
            yield verb, used, None

    def _matched(
        self,
        pattern: Pattern,
        clause: Clause,
        subject: tuple[Noun, str],
        used: Part | None,
        last: Part | None,
    ) -> list[Claim]:
        roles: dict[str, list[tuple[Noun, Part | None]]] = {pattern.subject: [(subject[0], None)]}
        family = pattern.family
        if bool(pattern.behind) != (last is not None):
            return []
        if last is not None:
            roles[pattern.behind] = [(n, last) for n in last.nouns]
        if pattern.first[0] and pattern.first[1] != "X":
            before = next((p for p in clause.parts if p.prep == pattern.first[0] and not p.dated), None)
            if before is None:
                return []
            roles[pattern.first[1]] = [(n, before) for n in before.nouns]
        if pattern.owned:
            if used is None:
                return []
            roles[pattern.owned] = [(self._owning(used.nouns[0]), used)]
        given = clause.lemma == "leave" and any(
            p.kind == "dative"
            or (p.prep in (_LAID if family.object in ("thing", "goods") else _LAID_AT) and not p.dated)
            for p in clause.parts
        )
        if pattern.effect == "ends" and (given or self.tree.kid(clause.at, "acomp", "oprd") is not None):
            return []  # "left Slack open", "left me her piano", "left the Volvo at the airport"
        direct = [p for p in clause.parts if not p.prep and p is not used and self._fills(p)]
        if pattern.direct:
            if not direct:
                return []
            twice = len(direct) > 1 and (direct[0].kind == "dative" or direct[1].kind == "attribute")
            if pattern.second:
                if not twice or self.tree.tokens[direct[1].nouns[0].at].pos == "ADJ":
                    return []  # "left Slack open"
                roles[pattern.second] = [(n, direct[1]) for n in direct[1].nouns]
            thing = direct[1] if twice and not pattern.second and direct[0].kind == "dative" else direct[0]
            roles[pattern.direct] = [(n, thing) for n in thing.nouns]
        elif any(p.kind in ("object", "activity") and not p.dated for p in direct):
            return []
        if pattern.head and not self._has_head(pattern, roles):
            return []
        if "S" not in roles:
            return []
        if pattern.value:
            return self._brought_about(pattern, clause, [noun for noun, _ in roles["S"]], subject)
        if "O" not in roles:
            return self._ended(pattern, clause, roles["S"], subject) if pattern.effect == "ends" else []
        return [
            claim
            for s, _ in roles["S"]
            for o, part in roles["O"]
            if (claim := self._family_claim(pattern, clause, s, o, part, subject)) is not None
        ]

    def _owning(self, noun: Noun) -> Noun:
        """Whose thing it is, as a noun; the thing itself where nobody is named."""
        if noun.of is not None:
            return noun.of
        if not noun.owner:
            return noun
        pronoun = noun.owner.lower() in ME | YOU | THEY | IT
        return Noun(noun.owner, noun.owner.lower(), noun.at, noun.chars, "PRON" if pronoun else "PROPN")

    def _has_head(self, pattern: Pattern, roles: dict[str, list[tuple[Noun, Part | None]]]) -> bool:
        """ "a pottery class" fits "O class"; the class alone does not."""
        role = pattern.behind or pattern.second or pattern.direct
        return any(
            pattern.head in (n.lemma, (n.text.lower().split() or [""])[-1]) and " " in n.text
            for n, _ in roles.get(role, ())
        )

    def _brought_about(
        self, pattern: Pattern, clause: Clause, nouns: list[Noun], told: tuple[Noun, str]
    ) -> list[Claim]:
        """ "Dad retired": the state that the verb leaves behind, once it has happened."""
        family, value = pattern.family, Noun(pattern.value, pattern.value, 0, (0, 0))
        happened = clause.tense in ("past", "perfect") or clause.verb.startswith("get ")
        if not happened or any(p.prep and not p.dated for p in clause.parts):
            return []
        claims = [
            self._claim(name, "is", family.name, pattern.value, "text", clause)
            for noun in nouns
            if (name := told[1] if noun is told[0] else self.whom(noun))
        ]
        return [self._with_family(claim, family, pattern.effect, clause, value) for claim in claims]

    def _fills(self, part: Part) -> bool:
        return part.kind in ("object", "attribute", "measure", "activity", "dative")

    def _ended(
        self,
        pattern: Pattern,
        clause: Clause,
        subjects: list[tuple[Noun, Part | None]],
        told: tuple[Noun, str],
    ) -> list[Claim]:
        """ "Tom quit": whatever the slot holds is over."""
        return [
            _ended(pattern.family, name, clause.reads)
            for noun, _ in subjects
            if (name := told[1] if noun is told[0] else self.whom(noun))
        ]

    def _family_claim(
        self, pattern: Pattern, clause: Clause, s: Noun, o: Noun, part: Part | None, told: tuple[Noun, str]
    ) -> Claim | None:
        family = pattern.family
        subject = told[1] if s is told[0] else self.whom(s)
        object_, kind = self._value(o, part, subject, family)
        if o is told[0]:
            object_, kind = told[1], "entity"
        if family.object == "money" and MONEY.search(object_):
            object_ = object_.partition(" in ")[0]  # "710 euros in rent"
        if not subject or not object_ or not self._fits(family, o, part, object_):
            return None
        first = next((p for p in clause.parts if p.prep and not p.dated), None)
        further = family.object not in ("date", "time", "weekday") and part is not None and part is not first
        if pattern.verb in _VAGUE and (further or not self._is_named(family, o)):
            return None
        if pattern.weak and not self._is_of_kind(family, o, object_):
            return None
        if pattern.verb == "give" and family.name == "owns" and clause.tense == "present":
            return None  # "they give me hope": what was given once is owned
        if not self._may_have(family, s, subject) or (family.words and not self._is_word_of(pattern, o)):
            return None
        if subject == object_ or (pattern.effect == "ends" and clause.negated and clause.dep == "relcl"):
            return None  # "It wasn't Tom who sold the van": nobody says that he has it
        if s is not told[0] and o is told[0] and clause.verb in _WEAK:
            return None
        if (
            pattern.effect == "ends"
            and pattern.subject == "X"
            and clause.tense == "present"
            and not clause.now
        ):
            return None  # "we buy our flour from the mill"
        if family.object == "activity" and clause.verb == "do" and self.tree.kids(o.at, "amod", "poss"):
            return None  # "does yoga", but not "does her best"
        effect: Effect = "begins" if clause.begins and pattern.effect == "holds" else pattern.effect
        if (
            effect == "holds"
            and clause.tense == "past"
            and clause.lemma in _WEAK
            and family.changes
            and not clause.over
        ):
            return None
        phrase = self._family_phrase(pattern, clause, s, o, part, told)
        claim = self._claim(subject, phrase, family.name, object_, kind, clause)
        claim = self._with_family(claim, family, effect, clause, o)
        if family.name in ("org_address", "postal_address", "located_in") and not claim.key.startswith(WAS):
            claim = replace(claim, others=(*claim.others, PLACED))
        claim = replace(claim, replaces=self._given_up(clause, subject))
        return replace(
            claim,
            event=effect == "ends" and not clause.over and not pattern.verb.endswith("from"),
            switches=clause.lemma in words("switching_verbs.txt"),
        )

    def _is_named(self, family: Family, noun: Noun) -> bool:
        """ "is on the Basic plan", "is with Siemens": without a name or the family's own noun it may be anything."""
        if family.object in AMOUNTS:
            return bool(_COUNTED.match(noun.text))
        return (
            family.object in ("date", "time", "weekday")
            or noun.proper
            or noun.lemma in family.nouns
            or noun.lemma in family.kinds
        )

    def _is_of_kind(self, family: Family, noun: Noun, said: str) -> bool:
        """ "started metformin", "joined Siemens": whether a thing is what a family holds, where words may mean more.

        What is called so is; so is a name where names are held, and elsewhere a word that is not of every day.
        """
        lemma, head = noun.lemma.lower(), self.tree.tokens[noun.at].text
        if family.object in AMOUNTS:
            return bool(MONEY.search(said))
        if stem(lemma) in members((*family.nouns, *family.kinds)) or lemma in family.words:
            return True
        if family.object in _PROPER:
            name = self.tree.short(noun).text.lower().split()
            return noun.proper and head[:1].isupper() and (len(name) == 1 or not everyday().issuperset(name))
        if family.object == "role":
            return lemma in words("professions.txt") or lemma in words("person_roles.txt")
        if family.object in ("state", "text"):
            return family.object == "text" and bool(_COUNTED.search(said))
        return not noun.proper and lemma not in everyday()

    def _given_up(self, clause: Clause, subject: str) -> str:
        """What stands behind "from" of a switch: "changed from a Volvo to a Tesla"."""
        if clause.lemma not in words("switching_verbs.txt"):
            return ""
        part = next((p for p in clause.parts if p.prep == "from" and not p.dated), None)
        return self._value(part.nouns[0], part, subject)[0] if part is not None and part.nouns else ""

    def _family_phrase(
        self, pattern: Pattern, clause: Clause, s: Noun, o: Noun, part: Part | None, told: tuple[Noun, str]
    ) -> str:
        """As it was said, where that reads well; a new home or employer as the state that it brings."""
        family = pattern.family
        if pattern.owned:
            thing = pattern.verb.removesuffix(f" {pattern.prep}").rpartition(" ")[2]
            return "is" if s.lemma == thing else f"'s {thing} is"
        if (
            pattern.effect == "begins"
            and clause.lemma in STATES.get(family.name, ())
            and not clause.plan
            and not clause.negated
        ):
            return family.reads
        said = clause.reads
        verb = said.split(" ", 1)
        if (
            s is told[0]
            and part is not None
            and clause.lemma == "be"
            and clause.word
            and pattern.direct == "O"
            and pattern.verb == clause.verb
        ):
            return f"{{S}} {said.removesuffix(clause.word).strip()} {{O}} {clause.word}"  # "is 31 years old"
        if s is told[0] and part is not None:
            fixed = (
                pattern.verb.removeprefix(clause.verb).strip()
                if pattern.verb.startswith(clause.verb)
                else part.prep
            )
            if not part.prep and pattern.behind:
                fixed = fixed.rpartition(" ")[0]
            for noun in (p.nouns[0] for p in clause.parts if not p.prep and p.nouns):
                if (NUMBER.match(noun.text) or noun.proper) and noun.lemma in fixed.split():
                    fixed = fixed.replace(noun.lemma, noun.text, 1)  # "spent two weeks in Crete"
            return (
                f"{said} {fixed}".strip() if part.prep else self._to_whom(f"{said} {fixed}".strip(), clause)
            )
        if o is told[0] and verb:
            prep = pattern.verb.removeprefix(clause.verb).strip() if pattern.behind == "S" else ""
            return f"{{O}} {said} {prep + ' ' if prep else ''}{{S}}"
        if pattern.subject == "X" and pattern.behind == "S" and told[1]:
            return f"{told[1]} {said} {{O}} {pattern.prep} {{S}}"  # "sold the van to Rhys"
        if pattern.subject == "X" and part is not None and told[1]:
            return f"{told[1]} {said} {{S}} {part.prep + ' ' if part.prep else ''}{{O}}"
        return family.reads

    def _to_whom(self, said: str, clause: Clause) -> str:
        """ "owes Milan" 200 euros."""
        given = [
            p
            for p in clause.parts
            if p.kind == "dative" and not p.prep and clause.lemma not in ("cost", "take")
        ]
        return f"{said} {self.whom(given[0].nouns[0])}".strip() if given else said

    def _with_family(self, claim: Claim, family: Family, effect: Effect, clause: Clause, o: Noun) -> Claim:
        if clause.negated and effect == "ends":
            effect, claim = "holds", replace(claim, negated=False, predicate=family.reads)
        elif (
            effect == "holds"
            and clause.tense == "past"
            and family.changes
            and not clause.over
            and not claim.negated
        ):
            return self._former(claim, family, o)
        elif clause.over:
            effect = "begins" if effect == "ends" else "ends"
        cue = "ends" if effect == "ends" else claim.cue
        return replace(
            claim, family=family.name, key=family.name, effect=effect, holds=family.holds, fixed=not family.changes,
            cue=cue, matter=o.lemma,
        )  # fmt: skip

    def _may_have(self, family: Family, noun: Noun, name: str) -> bool:
        """Whether a person or a thing, as the noun shows, can be the subject of a family."""
        if family.subject == "any":
            return True
        kind = self._is_who(noun, name)
        return not kind or kind == family.subject

    def _is_word_of(self, pattern: Pattern, o: Noun) -> bool:
        """ "go O", "become O": O is one of the family's own words, or the pattern says more than that."""
        if pattern.behind or pattern.verb not in ("go", "become", "get", "turn", "stay", "remain", "be"):
            return True
        return o.text.lower() in pattern.family.words or o.lemma in pattern.family.words

    def _fits(self, family: Family, noun: Noun, part: Part | None, said: str) -> bool:
        """Whether a value can be what the family holds: dates and amounts never stand for names."""
        dated = part is not None and part.dated
        wants = family.object
        if noun.pronoun and wants not in ("person", "animal"):
            return wants in ("thing", "goods") and noun.text.lower() not in ME | YOU
        if (
            part is not None
            and part.kind == "activity"
            and wants not in ("activity", "text", "thing", "goods", "event", "state")
        ):
            return False
        if wants == "weekday":
            return not dated and bool(HABIT.match(said))
        if wants in ("date", "time"):
            timed = re.search(r"day\b", said) or (re.search(r"\d", said) and not noun.proper)
            return dated or bool(CLOCK.search(said)) or bool(timed)
        if dated or HABIT.match(said):
            return False
        if wants == "animal":
            return noun.lemma in family.nouns or noun.lemma in words("animals.txt")
        number = bool(NUMBER.search(said))
        if wants == "money" and not (MONEY.search(said) or _BARE.match(said)):
            return False
        if wants == "duration" and not _TIMED.search(said):
            return False
        if wants in AMOUNTS:
            named = noun.proper and re.search(r"[A-Z][a-z]", said) and not MONEY.search(said)
            return (number and not named and not _CODED.search(said)) or noun.pos == "NUM"
        if wants == "state" and number and not noun.proper:
            return False
        if number and wants in _NAMED:
            return noun.proper or (noun.pos != "NUM" and not MONEY.search(said))
        if wants == "goods":
            return noun.lemma not in words("intangible_nouns.txt")
        if wants == "person":
            called = noun.proper or bool(noun.name) or (said != noun.text and said[:1].isupper())
            return called or self._is_person(noun) or noun.pronoun or bool(noun.owner)
        return True

    def _no_longer(self, clause: Clause, name: str) -> list[Claim]:
        """ "I don't work there any more": whatever the slot of the verb holds is over."""
        there = any(n.text.lower() == "there" for p in clause.parts for n in p.nouns)
        if not clause.over or clause.used or (clause.parts and not there):
            return []
        for verb, patterns in self.families.patterns.items():
            if verb.rpartition(" ")[0] == clause.verb:
                for pattern in patterns:
                    if (
                        pattern.effect == "holds"
                        and pattern.subject == "S"
                        and pattern.behind == "O"
                        and pattern.family.one
                    ):
                        return [_ended(pattern.family, name, pattern.family.reads)]
        return []


def _is_same(pair: tuple[str, str], other: tuple[str, str]) -> bool:
    """The same two ends, one of them perhaps with a word more: "the secondhand Volvo" and "the Volvo"."""
    ends = [sorted(both, key=len) for both in zip(pair, other, strict=True)]
    return all(a == b or b.endswith(f" {a}") or b.startswith(f"{a} ") for a, b in ends)


def _ended(family: Family, who: str, said: str) -> Claim:
    """Whatever the slot of somebody holds is over."""
    slot = family.name
    return Claim(who, said, slot, "", family=slot, effect="ends", cue="ends", holds=family.holds)


def _with_other(claim: Claim, other: Claim, table: Families) -> Claim:
    """The first family that fits, with another one that fits as well; one that names the object's noun leads."""
    fits = (claim.subject, claim.object, claim.effect) == (other.subject, other.object, other.effect)
    if not fits or other.key == claim.key or other.key in claim.others or len(claim.others) >= 8:
        return claim
    if _names(other, table) and not _names(claim, table):
        return replace(other, others=(claim.key, *claim.others))
    return replace(claim, others=(*claim.others, other.key))


def _names(claim: Claim, table: Families) -> bool:
    family = table.all.get(claim.key)
    return family is not None and (
        claim.matter.lower() in family.nouns or claim.matter.lower() in family.kinds
    )
