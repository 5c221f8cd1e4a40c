"""Which families of relations a clause falls into.

They are decided by the patterns of `lexicon/families.toml`; an object must be of a kind that the family can
hold, a subject a person or a thing where only one of them will do. The first family that fits wins;
others that fit are kept beside it, for one of them may already hold something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from worldline.lexicon import everyday, words
from worldline.reading.claim import CONTACT, MONEY, Claim, Effect, stem
from worldline.reading.clauses import Clause, Part
from worldline.reading.families import PARTICLES, PREPOSITIONS, Families, Family, Pattern, members
from worldline.reading.parser import Noun
from worldline.reading.whom import (
    CLOCK,
    IT,
    ME,
    NUMBER,
    THEY,
    WAS,
    YOU,
    Whom,
)

STATES = {
    "lives_in": frozenset({"move", "relocate"}),
    "works_at": frozenset({"join", "start", "begin"}),
}
"""Beginnings that are told as the state that they bring about."""
_VAGUE = frozenset({"be on", "be in", "be at", "be with", "be for", "be under"})
_CHOOSING = frozenset({"go with", "go for"})
_WEAK = frozenset("have take get make do go give leave see bring keep use want need know be".split())
HABIT = re.compile(
    r"^(?:(?:every|each) (?:other |second |third )?)?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|^weekdays?$|^weekends?$",
    re.I,
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
_LIGHT = frozenset("have be get make take".split())
"""What somebody has with another is one thing: "has a meeting with Paul"."""
_COUNTED = re.compile(r"[$€£¥~]?\d")
_GOING = frozenset("go head return come fly travel drive".split())
"""Who does this for good has moved."""
_TERMS = frozenset({"month", "season", "quarter", "half", "year", "decade"})
"""How precisely it is said when somebody begins at a school."""
_MORE = frozenset("advmod npadvmod advcl dobj prt neg aux xcomp".split())
"""What else is said of what somebody does: how often, with whom, what for."""
_WHERE = frozenset({"org_address", "postal_address", "located_in", "takes_place_in"})
"""Families that tell where a thing is, as "is in" does."""
_STREETS = frozenset("street road avenue lane row square drive court hill way close park quay".split())
_LAID_AT = frozenset({"at", "under"})
_LAID = _LAID_AT | frozenset({"in", "on", "with"})
"""Who left something there has it still."""
_TOWARDS = frozenset("into to at in from for on".split())
PLACED = "be|where"
"""The slot of where a thing is, whatever the preposition."""
PLACES = frozenset(
    "in at on under inside behind near beside outside above below between into opposite".split()
)
PLACES |= {"next to"}
_WEEKLY = {"held_weekly_on", "meeting_time"}
"""Said in one breath: "Practice is on Tuesdays at seven"."""
AMOUNTS = frozenset({"amount", "count", "duration", "money"})
_PROPER = frozenset({"person", "place", "organisation"})
_NAMED = frozenset("person place organisation animal language activity food role".split())
"""What goes by a name, not by a number."""
_NO_PERSON = frozenset("organisation place food language activity role".split())


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
                    wholes = [
                        f"{clause.verb} {said} {prep}" for said in (noun.lemma, self.tree.short(noun).text)
                    ]
                    if any(map(self.families.by_verb, (f"{clause.verb} {prep}", *wholes))):
                        extra.append(Part(prep, tuple(self.tree.noun(j, self.days) for j in self.tree.members(inner)),
                                          False, "split"))  # fmt: skip
                cut = extra and not part.dated and not self._has_role(clause, noun)
                nouns.append(self.tree.short(noun) if cut else noun)
            parts += [replace(part, nouns=tuple(nouns)), *extra]
        return replace(clause, parts=tuple(parts))

    def _with_company(self, clause: Clause) -> Clause:
        """ "teaches class 2B with Ms Olsen": with whom something is done, and no part of what is done."""
        if clause.lemma in _LIGHT or clause.plan or clause.over:
            return clause
        parts: list[Part] = []
        for part in clause.parts:
            things = part.nouns if part.kind == "object" and not part.prep else ()
            led = self.tree.kids(things[0].at, "prep") if len(things) == 1 else ()
            others = [self.tree.kid(i, "pobj") for i in led if self.tree.tokens[i].low == "with"]
            company = tuple(self.tree.noun(at, self.days) for at in others if at is not None)
            if len(led) == 1 and any(self._is_who(n, n.text) == "person" for n in company):
                parts += [
                    replace(part, nouns=(self.tree.short(things[0]),)),
                    Part("with", company, False, "prep"),
                ]
            else:
                parts.append(part)
        return replace(clause, parts=tuple(parts))

    def _phrasal(self, clause: Clause) -> Clause:
        """ "traded in the Fabia for a Kia": a particle that was taken for a preposition is the verb's."""
        led = [p for p in clause.parts if p.prep and clause.lemma != "be"]
        if len(led) < 2 or led[0].prep not in PARTICLES or any(not (p.prep or p.dated) for p in clause.parts):
            return clause
        first, verb = led[0], f"{clause.verb} {led[0].prep}"
        if not any(p.direct for each in led[1:] for p in self.families.by_verb(f"{verb} {each.prep}")):
            return clause
        parts = tuple(replace(p, prep="", kind="object") if p is first else p for p in clause.parts)
        return replace(clause, verb=verb, reads=f"{clause.reads} {first.prep}", parts=parts)

    def _has_role(self, clause: Clause, noun: Noun) -> bool:
        """ "is our head of sales", "is the captain of the team": what stands behind "of" belongs to the role."""
        return clause.verb == "be" and noun.of is not None and bool(noun.owner or noun.article == "the")

    def _in_families(self, clause: Clause, noun: Noun, name: str) -> list[Claim]:
        """The claims of every family that the clause falls into; the first one wins its object."""
        found: list[Claim] = []
        taken: list[tuple[str, str]] = []
        whole = replace(clause, over=False, begins=False)
        for verb, used, last in self._verbs(clause):
            said = whole if clause.chain and verb.startswith(clause.chain) else clause
            for pattern in self.families.by_verb(verb):
                if (pattern.subject == "X" and pattern.effect == "holds" and name) or (
                    pattern.subject != "X" and not name
                ):
                    continue
                for claim in self._matched(pattern, said, (noun, name), used, last):
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
        found = self._of_one_kind(found)
        own = [(f"{c.subject}'s ", c.object) for c in found if c.predicate.startswith("'s ")]
        found = [c for c in found if not any(c.subject.startswith(who) and c.object == o for who, o in own)]
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

    def _of_one_kind(self, found: list[Claim]) -> list[Claim]:
        """ "switched from Slack to Teams": where no person was given up, none takes the place."""
        ended = {c.object: self.families.all[c.key] for c in found if c.effect == "ends" and c.object}
        made = []
        for claim in found:
            before, now = ended.get(claim.replaces), self.families.all.get(claim.key)
            if before and now and claim.effect == "begins" and now.object == "person" != before.object:
                others = tuple(o for o in claim.others if o != before.name)
                claim = replace(claim, key=before.name, family=before.name, holds=before.holds, others=others)
            made.append(claim)
        return made

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
            particle = clause.verb.partition(" ")[2]
            verbs.append((f"be {self.tree.tokens[clause.at].low} {particle}".strip(), None))  # "is seeing"
        if clause.chain:
            verbs.append((clause.chain, None))
        verbs.append((clause.verb, None))
        if clause.verb.startswith("get "):
            verbs.append((f"be {clause.verb[4:]}", None))
        if clause.lasting and clause.lemma in _GOING:
            verbs.insert(0, ("move", None))
        yield from self._longer(clause, verbs)
        for verb, used in verbs:
            for part in clause.parts:
                if part.prep:
                    yield _led_to(verb, part.prep), used, part
                if part.prep.startswith("back "):
                    yield f"{verb} {part.prep.removeprefix('back ')}", used, part
            yield verb, used, None

    def _longer(
        self, clause: Clause, verbs: Sequence[tuple[str, Part | None]]
    ) -> Iterator[tuple[str, Part, Part | None]]:
        """Words with a noun among them that is no role: "use as phone", "step down as head of", "be in hands of"."""
        for part in clause.parts:
            if not part.nouns or part.dated or not (part.prep or part.kind in ("object", "attribute")):
                continue
            noun = part.nouns[0]
            behind = [p for p in clause.parts if p.prep and p is not part] if part.prep else []
            if noun.of is not None:
                behind.insert(0, Part(self._joined_by(noun), (noun.of,)))
            said = dict.fromkeys((self.tree.short(noun).text.lower(), noun.lemma))
            for verb, word in ((verb, word) for verb, used in verbs if used is None for word in said):
                whole = f"{_led_to(verb, part.prep) if part.prep else verb} {word}"
                yield from ((f"{whole} {last.prep}", part, last) for last in behind)
                if part.prep:
                    yield whole, part, None

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
            told = replace(clause, parts=tuple(p for p in clause.parts if p is not used))
            return self._brought_about(pattern, told, [noun for noun, _ in roles["S"]], subject)
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
        if not happened or (clause.lemma != "die" and any(p.prep and not p.dated for p in clause.parts)):
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
        lasting = o.at in self.days and self.days[o.at].role == "range" and not (part and part.prep)
        if lasting and family.object == "date":
            return None  # "is closed between 5 and 9 May" tells how long
        if family.object == "money" and MONEY.search(object_):
            object_ = object_.partition(" in ")[0]  # "710 euros in rent"
        if not subject or not object_ or not self._fits(family, o, part, object_):
            return None
        first = next((p for p in clause.parts if p.prep and not p.dated), None)
        further = family.object not in ("date", "time", "weekday") and part is not None and part is not first
        if pattern.verb in _VAGUE and (further or not self._is_named(family, o)):
            return None
        if pattern.verb in _CHOOSING and further:
            return None  # "goes to Porto with her sister"
        if pattern.verb in _VAGUE and family.object != "place" and o.lemma.lower() in _STREETS:
            return None  # "is on Elm Street"
        if pattern.weak and not self._is_of_kind(family, o, object_):
            return None
        if pattern.weak and family.name == "studies_at" and not self._is_school(clause, o):
            return None
        if pattern.verb == "give" and family.name == "owns" and clause.tense == "present":
            return None  # "they give me hope": what was given once is owned
        if not self._may_have(family, s, subject) or (family.words and not self._is_word_of(pattern, o)):
            return None
        if subject == object_ or (pattern.effect == "ends" and clause.negated and clause.dep == "relcl"):
            return None  # "It wasn't Tom who sold the van": nobody says that he has it
        light = clause.verb in _WEAK and pattern.verb.removesuffix(pattern.prep).strip() == clause.verb
        if s is not told[0] and o is told[0] and light:
            return None
        if (
            pattern.effect == "ends"
            and (pattern.subject == "X" or clause.lemma == "sell")
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
        if (whose := self._of_its_own(claim, family, s)) is not None:
            return whose
        if family.name in _WHERE and not claim.key.startswith(WAS):
            claim = replace(claim, others=(*claim.others, PLACED))
        claim = replace(claim, replaces=self._given_up(clause, subject))
        if (dose := _DOSE.match(object_)) is not None and family.name == "takes_medication":
            claim = replace(claim, key=f"{family.name}:{stem(dose['of'].lower())}", holds="one")
        return replace(
            claim,
            event=effect == "ends" and not clause.over and not pattern.verb.endswith("from"),
            switches=clause.lemma in words("switching_verbs.txt"),
        )

    def _of_its_own(self, claim: Claim, family: Family, noun: Noun) -> Claim | None:
        """ "Freya's salary was raised to 44,500": an amount that the noun names is its owner's."""
        owner = self._owner(noun.owner) if noun.owner and family.object in AMOUNTS else ""
        named = [n.family for n in self.families.by_noun(self.tree.short(noun).text)] if owner else []
        if not named or named[0].object not in AMOUNTS or claim.predicate.startswith(("'s", "{", "is")):
            return None
        its = named[0]
        return replace(
            claim, subject=owner, predicate=f"'s {self.tree.short(noun).text.lower()} {claim.predicate}", key=its.name,
            family=its.name, others=(), holds=its.holds, of_speaker=owner == self.talk.speaker,
        )  # fmt: skip

    def _is_named(self, family: Family, noun: Noun) -> bool:
        """ "is on the Basic plan", "is with Siemens": without a name or the family's own noun it may be anything."""
        if family.object in AMOUNTS:
            return bool(_COUNTED.match(noun.text))
        return (
            family.object in ("date", "time", "weekday")
            or (family.name == "takes_medication" and bool(_DOSE.match(noun.text)))
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
            return bool(MONEY.search(said) or RATE.match(said))
        if family.name == "takes_medication" and _DOSE.match(said):
            return True
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

    def _is_school(self, clause: Clause, noun: Noun) -> bool:
        """ "goes to Birch Primary": a name that says so, or all that is said of what somebody does ("goes to Eton").

        A name alone may be any place, and who goes to a school on Friday or for a concert is a visitor.
        """
        family, going = self.families.all["studies_at"], self.tree.tokens[clause.at].tag == "VBG"
        days = [self.days[i] for i in clause.own if i in self.days]
        once = any(day.role != "start" and day.precision not in _TERMS for day in days)
        behind = going and any(p.prep == "for" and not p.dated for p in clause.parts)
        if clause.lemma in _GOING and (once or behind):
            return False
        called = members((*family.nouns, *family.kinds))
        if any(stem(word) in called for word in noun.text.lower().split()):
            return True
        plain = clause.tense == "present" and not (going or clause.plan or days)
        more = [
            i for i in self.tree.kids(clause.at) if self.tree.tokens[i].dep in _MORE and i not in self.days
        ]
        return plain and len(clause.parts) == 1 and clause.lemma in ("go", "attend") and not more

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
            if " " in part.prep:
                fixed = part.prep  # "is down to"
            elif clause.lemma == "be" and not clause.word and said in ("is", "was", "will be"):
                fixed = pattern.verb.removeprefix("be").strip()  # "is up to"
            alone = any(p.family is family and not p.direct for p in self.families.by_verb(pattern.verb))
            if pattern.direct == "X" and part.prep and not alone:
                fixed = f"{self._direct(clause)}{fixed}"  # "dropped Slack for Teams"
            if not part.prep and pattern.behind:
                fixed = fixed.rpartition(" ")[0]
            elif not part.prep and fixed.partition(" ")[0] in PREPOSITIONS and " " in fixed:
                return f"{{S}} {said} {{O}} {fixed}"  # "uses it as phone"
            for noun in (p.nouns[0] for p in clause.parts if not p.prep and p.nouns):
                if (NUMBER.match(noun.text) or noun.proper) and noun.lemma in fixed.split():
                    fixed = fixed.replace(noun.lemma, noun.text, 1)  # "spent two weeks in Crete"
            return (
                f"{said} {fixed}".strip() if part.prep else self._to_whom(f"{said} {fixed}".strip(), clause)
            )
        if o is told[0] and verb:
            prep = pattern.verb.removeprefix(clause.verb).strip() if pattern.behind == "S" else ""
            prep = f"{self._direct(clause)}{prep}" if pattern.direct == "X" else prep
            return f"{{O}} {said} {prep + ' ' if prep else ''}{{S}}"
        if pattern.subject == "X" and pattern.behind == "S" and told[1]:
            more = pattern.verb.removeprefix(clause.verb).removesuffix(pattern.prep).strip()
            more = f"{more} " if more.partition(" ")[0] in PREPOSITIONS else ""
            return f"{told[1]} {said} {{O}} {more}{pattern.prep} {{S}}"  # "sold the van to Rhys"
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

    def _direct(self, clause: Clause) -> str:
        """The words of the object, with a space behind them."""
        found = next((p.nouns[0] for p in clause.parts if not p.prep and p.nouns and self._fills(p)), None)
        return f"{found.text} " if found is not None else ""

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
        if noun.proper and wants in _NO_PERSON and said.split()[0].lower().rstrip(".") in words("titles.txt"):
            return False  # "signed up with Dr Ito"
        if wants == "weekday":
            return not dated and bool(HABIT.match(said))
        if wants in ("date", "time") and MONEY.search(said):
            return False
        if wants in ("date", "time"):
            timed = re.search(r"day\b(?! (?:mornings|afternoons|evenings|nights)\b)", said) or (
                re.search(r"\d", said) and not noun.proper
            )
            return dated or bool(CLOCK.search(said)) or bool(timed)
        if dated or HABIT.match(said):
            return False
        if wants == "animal":
            return noun.lemma in family.nouns or noun.lemma in words("animals.txt")
        number = bool(NUMBER.search(said))
        if wants == "money" and not (MONEY.search(said) or _BARE.match(said) or RATE.match(said)):
            return False
        if wants == "duration" and not _TIMED.search(said):
            return False
        if wants in AMOUNTS:
            named = noun.proper and re.search(r"[A-Z][a-z]", said) and not MONEY.search(said)
            return (number and not named and not _CODED.search(said)) or noun.pos == "NUM"
        if wants == "state" and number and not noun.proper:
            return False
        if number and wants in _NAMED and wants != "person":
            return noun.proper or (noun.pos != "NUM" and not MONEY.search(said))
        if wants == "goods":
            return noun.lemma not in words("intangible_nouns.txt") and not RATE.match(said)
        if wants == "contact":
            return bool(CONTACT.search(said) or re.search(r"\d", said))
        if wants == "person":
            called = noun.proper or bool(noun.name) or (said != noun.text and said[:1].isupper())
            return called or self._is_person(noun) or noun.pronoun or bool(noun.owner)
        return True

    def _no_longer(self, clause: Clause, name: str) -> list[Claim]:
        """ "I don't work there any more": whatever the slot of the verb holds is over."""
        there = any(n.text.lower() == "there" for p in clause.parts for n in p.nouns)
        if not clause.over or clause.used or not there:
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


_DOSE = re.compile(
    r"\d[\d.,]* ?(?:[mµ]?c?g|ml|units?|iu|drops?|tablets?|pills?|puffs?|capsules?) (?:a day )?of (?P<of>.+)",
    re.I,
)
"""How much of a medicine somebody takes: of each there is one dose at a time."""


RATE = re.compile(
    r"[$€£]?\d[\d.,]*k? (?:euros? |dollars? |pounds? )?(?:an?|per) (?:hour|day|week|month|year)\b", re.I
)
"""What is paid for so long: nothing that is owned."""


def _led_to(verb: str, prep: str) -> str:
    """A verb with its preposition; a particle that is in both is said once: "be down", "down to"."""
    first, gap, _ = prep.partition(" ")
    return f"{verb.removesuffix(f' {first}')} {prep}" if gap else f"{verb} {prep}"


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
