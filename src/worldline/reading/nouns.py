"""What is said without a verb of its own: by nouns, adjectives, notes like telegrams, roles and dates.

"Ana's boss is Ben", "Ana is vegetarian": a noun that names a family of relations brings its slot along; any other
makes a slot of its own. Of adjectives only those count that last: moods and opinions say nothing that could be kept.
"MOT due 22 August", "Pt. Gareth Lumb, 58, ex-smoker": a stretch between commas that has no verb says something by
itself where a noun stands right in front of a value, or where it follows the name of whom the note is about. Whoever
is named first without a verb is what a note speaks of, and its verbs without a subject mean that one.

    "Interview, Silvan Pettigrew. Speaks German." → Silvan Pettigrew speaks German

What is whose shows without any verb: "My sister Rosa", "two dogs, Rex and Luna", "Samir, a beekeeper".
Of a sentence's dates only some are a claim's own: in "We got a dog yesterday, her name is Comet" the day is that of
the getting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from worldline.dates import DateSpan, find_dates
from worldline.lexicon import lines, words
from worldline.reading.claim import MONEY, Claim, Effect, is_somebody, predicate_key
from worldline.reading.clauses import Clause, Part
from worldline.reading.families import Family, plural
from worldline.reading.matching import AMOUNTS, HABIT, Matching
from worldline.reading.parser import IDLE_MODIFIERS, Noun
from worldline.reading.whom import FRESH, NUMBER, THEY
from worldline.text import stop


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
        be = plural(tense) if clause is not None and clause.reads.split(" ")[0] in _SEVERAL else tense
        phrase = f"'s {role} {be}{' not' if clause is not None and clause.negated else ''}"
        key = predicate_key(role.split(), "of")
        claim = self._claim(owner, phrase, key, value, kind, clause)
        measured = tense == "was" and NUMBER.match(value) and self._is_of_today()
        claim = replace(
            claim,
            holds="series" if measured else "one",
            definite=True,
            matter=what.lemma if what is not None else value.lower(),
        )
        known = self.families.by_noun(role)
        if not known and clause is not None and be != tense:
            role = self._one_such(role)
            known = [n for n in self.families.by_noun(role) if _may_be(n.family, value, kind)]
        for named in known:
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

    def _one_such(self, role: str) -> str:
        """The noun of one of several that a sentence speaks of: "best friends" → "best friend"."""
        before, gap, last = role.rpartition(" ")
        one = (t.lemma for t in self.tree.tokens if t.low == last and t.tag == "NNS")
        return f"{before}{gap}{next(one, last)}"

    def _made_by(self, clause: Clause, whole: str, part: Part) -> list[Claim]:
        """ "The club elected Simone chair", "as its treasurer", "to the chair": a role in whatever gives it."""
        whom = self.whom(part.nouns[0])
        if not whom or whole == self.talk.speaker or clause.verb.split()[0] in ("be", "get", "become"):
            return []
        for other in clause.parts:
            role = other.nouns[0] if other.nouns else None
            if other is part or role is None or other.prep not in ("", "as", "to") or role.of is not None:
                continue
            held = [n.family for n in self.families.by_noun(role.lemma) if n.family.object == "person"]
            if held and held[0].subject != "person" and not role.proper:
                claim = self._noun_claim(whole, role.lemma, whom, "entity", None, role)
                told = " ".join(filter(None, ("{S}", clause.reads, "{O}", other.prep, role.lemma)))
                return [replace(claim, effect="begins", predicate=told)]
        return []

    def _is_of_today(self) -> bool:
        """Whether something is told of a part of this day: what was measured this morning is not so for good."""
        said = " ".join(token.low for token in self.tree.tokens)
        return re.search(r"\b(?:this (?:morning|afternoon|evening)|tonight|today)\b", said) is not None

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


def _may_be(family: Family, value: str, kind: str) -> bool:
    """Whether a value is one of what a family holds, as far as its figures show it: no lesson is 30 pounds."""
    figures = family.object in (*AMOUNTS, "contact", "date", "time", "text")
    return figures or not (NUMBER.match(value) or kind == "date")


_SEVERAL = frozenset({"are", "were"})
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


# Notes without verbs ---------------------------------------------------------------------------------


_AMOUNT = (
    r"[$€£¥~]?\d[\d,.]*(?:\s?(?:%|°C|k|[a-z]{1,3}|kilos?|euros?|dollars?|pounds?|minutes?|hours?|days?|weeks?|"
    r"months?|years?|percent|jars?|seats?))?(?:\s?(?:/|per |a )\s?(?:[a-z]+|\d+)"
    r"| (?:monthly|weekly|daily|yearly|annually|pcm))?"
)
_CODED = re.compile(
    r"(?P<noun>(?:[^\W\d_][\w-]* )?(?:number|code|id|no|ref|reference|plate|model)) (?P<value>(?=\S*\d)\S+)",
    re.I,
)
_NOTED = re.compile(
    rf"(?P<noun>[^\W\d_][\w-]*(?: [a-z][\w-]*){{0,2}}?)(?: today| now)? (?P<due>due |expires? |until )?"
    rf"(?P<value>{_AMOUNT})",
    re.I,
)
_AGE = re.compile(r"(?:aged? )?(?P<age>[1-9]\d)")
_SPOKEN = re.compile(r"[?!\"“”]|\b(?:I|we|you|my|our|your|it|he|she|they)\b", re.I)
_WITHOUT = frozenset({"PRP", "PRP$", "WP", "WDT", "WRB", "TO", "MD", "EX", "UH", "RB", "CC"})
"""Where somebody speaks, or a word of a sentence stands, no "is" was left out."""
_STANDS = re.compile(
    rf"(?P<name>.+?)(?: still| now| again| currently)? "
    rf"(?=(?:{'|'.join(lines('state_phrases.txt'))})(?: until| since| from| for)?$)"
    r"(?P<how>out of|up to|[a-z]+) (?P<what>[a-z ]+?)(?: until| since| from| for)?"
)
_NEAR = frozenset(
    "friend buddy mate pal bestie neighbour neighbor colleague coworker co-worker ex partner".split()
)
"""Roles that somebody has to one person only, and that are said of whoever speaks."""
_NUMBERED = frozenset(
    "flat room ticket week version class chapter page step gate platform bus line unit number no day item bed berth "
    "ward seat section phase level route highway invoice order case table box figure part year grade type model bug "
    "area apartment building house street road floor track episode season volume issue release revision stage".split()
)
"""With a number behind it this is a name and no amount."""


class Terse(Nouns):
    """The part of a sentence's reader that knows notes without verbs."""

    def _topic(self) -> None:
        """Whom a note is about: the name that its first words without a verb are or call; not who is spoken to.

        "Interview, Silvan Pettigrew." heads a note; "Cool, James!" and a first name alone head none.
        """
        first = next(self._stretches(), None)
        if self.talk.topic or self.talk.begun or first is None:
            return
        self.talk.begun = True
        root = self.tree.root
        if self.tree.tokens[root].tag not in ("NN", "NNP") or _SPOKEN.search(self.tree.text):
            return
        for at in (root, *self.tree.kids(root, "appos", "npadvmod")):
            noun = self.tree.short(self.tree.noun(at, self.days, deep=False))
            several = len(noun.text.split()) > 1
            person = (at != root and several and noun.text.istitle()) or self._is_who(
                noun, noun.text
            ) == "person"
            named = self.tree.tokens[at].pos == "PROPN" and (several or len(self.tree.tokens) > 2)
            if named and person and at not in self.days:
                self.talk.topic = self.talk.person = noun.text

    def _noted(self) -> Iterator[tuple[Claim, Noun]]:
        """What the stretches of a sentence say that have no verb, and where."""
        for places in self._stretches():
            said = self.tree.said(places)
            if not said:
                continue
            dated = {self.days[i].text for i in places if i in self.days}
            claim = self._of_topic(said, places[0]) or self._amount(said) or self._day(said, dated)
            if claim is not None:
                yield claim, self._noun_of(places)

        yield from self._states()
        yield from self._standing()
        yield from self._offices()

    def _stretches(self) -> Iterator[list[int]]:
        """The words between commas, where none is a verb."""
        return (found for found in self._between() if not any(self._is_verb(k, found) for k in found))

    def _between(self) -> Iterator[list[int]]:
        """The words between commas."""
        found: list[int] = []
        for i, token in enumerate([*self.tree.tokens, None]):
            if token is not None and (token.pos != "PUNCT" or token.text in "-/–"):
                found.append(i)
                continue
            if found:
                yield found
            found = []

    def _states(self) -> Iterator[tuple[Claim, Noun]]:
        """ "roof slates loose", "grant approved", "disk full on vault1": what is so, without the "is"."""
        tokens = self.tree.tokens
        for places in self._between():
            at = next((i for i in places[1:] if tokens[i].low in words("states.txt")), None)
            if at is None or _SPOKEN.search(self.tree.text):
                continue
            name, state = self._of_state([i for i in places if i < at]), tokens[at].low
            after = [i for i in places if i > at and i not in self.days]
            told = (f"{c.subject} {c.predicate} {c.object}".lower() for c in self.found)
            if not name or any(state in said for said in told) or (after and tokens[after[0]].tag != "IN"):
                continue
            be = "are" if tokens[at - 1].tag in ("NNS", "NNPS", "VBZ") else "is"
            behind = self.tree.said(after[1:]) if after and tokens[after[0]].low in ("on", "in", "at") else ""
            said = f"{be} {state} {tokens[after[0]].low}" if behind else be
            claim = replace(self._claim(name, said, "|be", behind or state, "text", None), holds="many")
            yield self._on_day(claim, places), self._noun_of(places)

    def _on_day(self, claim: Claim, places: list[int]) -> Claim:
        """With the date among these words."""
        span = next((self.days[i] for i in places if i in self.days), None)
        if span is None or span.role == "end":
            return claim if span is None else replace(claim, valid_to=span.end)
        return replace(claim, valid_from=span.start, precision=span.precision)

    def _noun_of(self, places: list[int]) -> Noun:
        """These words, as one noun."""
        noun = self.tree.noun(places[0], (), deep=False)
        return replace(noun, chars=(noun.chars[0], self.tree.tokens[places[-1]].end))

    def _of_state(self, before: list[int]) -> str:
        """What is in a state: one noun phrase, without its role; with what the note is about, unless it is a name."""
        tokens = [self.tree.tokens[i] for i in before]
        wrong = any(t.tag in _WITHOUT or t.low in stop() - {"of", "in", "on", "the"} for t in tokens)
        wrong = wrong or len(tokens) > 6 or any(i in self.days for i in before)
        verbs = [t for t in tokens[:-1] if t.pos in ("VERB", "AUX") and t.dep != "compound"]
        if wrong or verbs or (tokens and tokens[-1].pos == "AUX"):
            return ""
        while len(before) > 1 and (tokens[0].low == "the" or tokens[0].low in words("person_roles.txt")):
            before, tokens = before[1:], tokens[1:]
        named = tokens[-1].text[:1].isupper() or any(c.isdigit() for t in tokens for c in t.text)
        name = self.tree.said(before)
        return name if named or not self.talk.topic else f"{self.talk.topic}'s {name}"

    def _standing(self) -> Iterator[tuple[Claim, Noun]]:
        """ "Kim on leave until Friday", "Lift B out of order": how somebody or something stands, without the "is"."""
        for places in self._stretches():
            found = _STANDS.fullmatch(self.tree.said([i for i in places if i not in self.days]))
            name = self._of_state(places[: len(found["name"].split())]) if found else ""
            if found and name:
                claim = self._claim(name, f"is {found['how']}", "|be", found["what"], "text", None)
                yield self._on_day(replace(claim, holds="one"), places), self._noun_of(places)

    def _offices(self) -> Iterator[tuple[Claim, Noun]]:
        """ "Treasurer Aldo Brenner reported a surplus": what somebody is, where it is said of nobody's."""
        for at, token in enumerate(self.tree.tokens):
            own = any(token.low in words(f"{of}.txt") for of in ("kin", "animals", "record_kinds"))
            role = token.low in words("person_roles.txt") and token.tag in ("NN", "NNP")
            front = self.tree.tokens[at - 1] if at else None
            free = front is None or front.pos == "PUNCT" or front.low == "the"
            if role and free and not own and token.low not in _NEAR and not self.tree.is_title(at):
                name = self._full_name(at + 1)
                told = any(name in (c.subject, c.object) and token.low in c.predicate for c in self.found)
                claim = self._claim(name, "is", "|be", token.low, "text", None)
                if name and not told:
                    yield replace(claim, holds="many"), self._noun_of([at])

    def _full_name(self, at: int) -> str:
        """The name of at least two words that begins here."""
        tokens, end = self.tree.tokens, at
        while end < len(tokens) and tokens[end].pos == "PROPN" and tokens[end].text[:1].isupper():
            end += 1
        return self.tree.said(range(at, end)) if end > at + 1 else ""

    def _is_verb(self, at: int, among: list[int]) -> bool:
        """Whether a word is a verb; "Rent €1,140 monthly" begins with none."""
        token = self.tree.tokens[at]
        valued = at == among[0] and len(among) > 1 and bool(NUMBER.search(self.tree.tokens[at + 1].text))
        noun = valued and token.tag not in ("VBD", "VBN") and token.low in self.families.nouns
        return token.pos in ("VERB", "AUX") and token.dep != "compound" and not noun

    def _of_topic(self, said: str, at: int) -> Claim | None:
        """ "Gareth Lumb, 58, ex-smoker": what stands behind the name in the same breath."""
        head = self.tree.text[: self.tree.tokens[at].begin - self._offset]
        if not self.talk.topic or self.talk.topic not in head:
            return None
        last = said.lower().split()[-1]
        known = (
            self.families.by_word(said)
            or last in words("professions.txt")
            or last in words("person_roles.txt")
        )
        if not known or len(said.split()) > 4:
            return None
        return self._attribute(self.talk.topic, Noun(said, last, at, (0, 0)), "is")

    def _aged(self, name: str, noun: Noun) -> Claim | None:
        """ "Gareth Lumb, 58"."""
        age = _AGE.fullmatch(noun.text)
        if age is None or noun.at in self.days:
            return None
        return replace(self._claim(name, "is", "age", age["age"], "text", None), family="age", holds="one")

    def _amount(self, said: str) -> Claim | None:
        """ "mileage 48,310", "notice period three months"."""
        if coded := _CODED.fullmatch(said):
            return self._noun_is(coded["noun"], "", coded["value"], "text")
        match = _NOTED.fullmatch(said)
        return (
            self._noun_is(match["noun"], (match["due"] or "").strip(), match["value"], "text")
            if match
            else None
        )

    def _spoken_of(self, noun: str) -> str:
        """The thing that the sentence in front of a noun speaks of: "The bell was recast, weight 820 kg"."""
        subject = self.subject
        if subject is None or subject.chars[0] >= self._offset + self.tree.text.find(noun):
            return ""
        name = self.whom(subject)
        return name if self._is_who(subject, name) != "person" else ""

    def _day(self, said: str, dated: set[str]) -> Claim | None:
        """ "thesis due 30 September"."""
        for day in dated:
            noun, _, rest = said.partition(f" due {day}")
            if noun != said and not rest:
                return self._noun_is(noun, "due", day, "date")
            noun, _, rest = said.partition(f" on {day}")
            if noun != said and not rest:
                return self._noun_is(noun, "on", day, "date")
            noun, _, rest = said.partition(f" {day}")
            if (
                noun != said
                and not rest
                and any(n.family.object == "date" for n in self.families.by_noun(noun.lower()))
            ):
                return self._noun_is(noun, "", day, "date")
        return None

    def _noun_is(self, noun: str, due: str, value: str, kind: str) -> Claim | None:
        names = noun.lower().split()
        if noun.lower() in ("due", "since"):
            return None
        if any(w in stop() for w in names) or len(names) > 3 or any(w.istitle() for w in noun.split()[1:]):
            return None
        plain = value.replace(",", "").isdigit()
        if plain and len(value) < 4 and (noun[0].isupper() or not self.families.by_noun(noun.lower())):
            return None  # "Forklift 7", "draft 2": the seventh, the second
        if (
            (value[-1:].isupper() and names[-1] in _NUMBERED)
            or (plain and names[-1] in _NUMBERED)
            or names[-1] in words("units.txt")
            or (names[0] in _NUMBERED and plain)
            or (names[-1] in words("record_kinds.txt") and plain)
        ):
            return None
        family = next((n.family for n in self.families.by_noun(noun.lower())), None)
        mine = family is not None and family.subject == "person"
        owner = self.talk.topic or self._spoken_of(noun) or (self.talk.speaker if mine else "")
        if owner and not due:
            return self._noun_claim(owner, noun, value, kind)
        is_ = f"is {'on' if due == 'on' else 'due'}" if due else "is"
        claim = self._claim(owner or noun, f"'s {noun} {is_}" if owner else is_,
                            predicate_key([noun, due], "of"), value, kind, None)  # fmt: skip
        claim = replace(claim, holds="one")
        span = (
            next((s for s in self.said.dates("future") if s.text == value), None) if kind == "date" else None
        )
        return claim if span is None else replace(claim, valid_from=span.start, precision=span.precision)


# When a claim holds ----------------------------------------------------------------------------------


class Days(Terse):
    """The part of a sentence's reader that knows its dates."""

    def _dated(self, claim: Claim, clause: Clause) -> Claim:
        """The date that the clause states, as the start or the end of what it says."""
        own = {self.days[i].chars for i in self._its_days(clause)}
        ahead = any(
            p.dated and p.prep in ("for", "to", "until", "till", "by", "before") for p in clause.parts
        )
        tense = "future" if clause.plan else "" if ahead else clause.tense
        for span in self.said.dates(tense) if own else ():
            other = claim.kind == "date" and len(own) > 1 and claim.object not in span.text
            if span.chars not in own or other:
                continue
            span = self._meant(span, clause) if span.role == "range" else span
            if span.role == "end":
                claim = replace(claim, valid_to=span.end if claim.valid_to is None else claim.valid_to)
            elif claim.valid_from is None:
                now = span.role == "start" and clause.tense == "present" and not claim.cue
                claim = replace(
                    claim, valid_from=self._first(span, clause), precision=span.precision,
                    begins=span.role == "start", cue="closes" if now else claim.cue,
                )  # fmt: skip
                if span.role == "range" and claim.switches:
                    end, said_at = span.text.rpartition(" to ")[2], self.said.said_at
                    last = find_dates(end, said_at) if said_at else []
                    claim = replace(claim, valid_from=last[0].start if last else span.start)
                elif span.role == "range":
                    claim = replace(claim, valid_to=span.end)
                elif self._is_for_now(claim, clause, span):
                    claim = replace(claim, valid_to=span.end, cue=claim.cue or "adds")
        if clause.follows and not own:
            return self._after_that(claim, clause)
        return claim if own or claim.valid_from is not None else self._lasted(claim, clause)

    def _after_that(self, claim: Claim, clause: Clause) -> Claim:
        """ "at Alpha until 2020, then at Beta": since 2020."""
        ended = [self.days[i] for i in self.days if i < clause.follows and self.days[i].role == "end"]
        if not ended or claim.valid_from is not None:
            return claim
        return replace(claim, valid_from=ended[-1].start, precision=ended[-1].precision, begins=True)

    def _meant(self, span: DateSpan, clause: Clause) -> DateSpan:
        """A range as it is meant: what is told of one in the present begins as near to now as it may."""
        if clause.tense != "present" or self.said.said_at is None:
            return span
        later = next((s for s in self.said.dates("future") if s.chars == span.chars), span)
        now = int(self.said.said_at.timestamp() * 1_000_000)
        return min(span, later, key=lambda each: abs(each.start - now))

    def _is_for_now(self, claim: Claim, clause: Clause, span: DateSpan) -> bool:
        """ "is out of order this week": what is so for this while is told of no other."""
        lasts = claim.effect == "holds" and not claim.event and claim.kind != "date"
        here = _FOR_NOW.fullmatch(span.text) is not None
        return here and lasts and clause.tense == "present" and not (clause.begins or clause.lasting)

    def _its_days(self, clause: Clause) -> list[int]:
        """The places of the dates of a clause; one in front of a comma belongs to what stands before it.

        "We got a dog yesterday, her name is Comet": the parser hangs the day on the naming.
        """
        named = [c for c in self.clauses if c.dep == "acl" and c.lemma in ("call", "name")]
        inner = [c for c in named if self.tree.tokens[c.at].head in clause.own]
        own = clause.own.union(*(c.own for c in inner)) if clause not in named else frozenset()
        ended = {i for i in self.days if self._is_ended_by_comma(i)}
        before = {i for i in ended if any(k in own and k not in self.days for k in (self._in_front(i),))}
        return [i for i in self.days if (i in own and i not in ended) or i in before]

    def _in_front(self, at: int) -> int:
        """The last word in front of a date, without its preposition."""
        while at > 0 and (at in self.days or self.tree.tokens[at].dep in ("prep", "det", "punct")):
            at -= 1
        return at

    def _is_ended_by_comma(self, at: int) -> bool:
        """Whether a comma stands right behind a date, and none in front of it."""
        end = at
        while end in self.days:
            end += 1
        front = self._in_front(at)
        between = self.tree.tokens[front + 1 : at]
        closed = end < len(self.tree.tokens) and self.tree.tokens[end].text == ","
        return closed and front not in self.days and not any(t.text == "," for t in between)

    def _first(self, span: DateSpan, clause: Clause) -> int:
        """When a stretch begins: what is so "on Friday" is ahead, and "two weeks ago" is that very day."""
        said_at = self.said.said_at
        if said_at is None or span.role:
            return span.start
        now = int(said_at.timestamp() * 1_000_000)
        later = next((s for s in self.said.dates("future") if s.chars == span.chars), span).start
        if clause.tense == "past" and any(p.dated and p.prep == "from" for p in clause.parts):
            return min(span.start, later, key=lambda at: abs(at - now))  # "raised the rent from May"
        if span.precision == "week" and span.text.endswith("ago"):
            return span.start + said_at.weekday() * DAY
        present = clause.tense == "present" and self.tree.tokens[clause.at].tag != "VBD"
        ahead = span.precision in _OF_A_DAY or (span.precision == "month" and clause.lemma in _COMING)
        return later if present and ahead and span.end <= now else span.start

    def _lasted(self, claim: Claim, clause: Clause) -> Claim:
        """ "We have lived here for twelve years": since then."""
        if not clause.lasted or self.said.said_at is None:
            return claim
        span = next(iter(find_dates(f"{clause.lasted} ago", self.said.said_at)), None)
        if span is None:
            return claim
        return replace(claim, valid_from=span.start, precision=span.precision, begins=True)


DAY = 86_400_000_000
_OF_A_DAY = frozenset("day part hour minute".split())
_FOR_NOW = re.compile(r"today|tonight|this (?:morning|afternoon|evening|week(?:end)?|month|\w+day)", re.I)
"""A stretch that is going on, and what is told with it is so for as long."""
_COMING = frozenset(
    "open start begin close end move leave arrive come go return fly retire finish join launch".split()
)
"""What is told in the present of a month is still to come."""


# Who is whose what -----------------------------------------------------------------------------------


STRETCHES = frozenset("day week night shift month morning term semester".split())
_STATIONS = {
    ("", "at"): "works_at", ("", "with"): "works_at", ("", "as"): "works_as", ("night", "in"): "lives_in",
    ("night", "at"): "lives_in",
}  # fmt: skip
"""What a first day somewhere begins, by the word and the preposition."""
_SCHOOLS = ("attends_school", "studies_at")


class Roles(Days):
    """The part of a sentence's reader that knows roles, and keeps what is claimed."""

    def _roles(self) -> None:
        """ "my sister Rosa", "uncle Sandro", "Priya, our new designer", "Birte, a trained pilot"."""
        for at, token in enumerate(self.tree.tokens):
            if (
                token.tag in ("NN", "NNP", "NNS")
                and (token.low in words("person_roles.txt") or self._one_of(at) in words("person_roles.txt"))
                and not self.tree.is_title(at)
            ):
                self._role_at(at)
        for at, token in enumerate(self.tree.tokens):
            if token.pos in ("NOUN", "PROPN") and at not in self.days:
                self._apposition(at, self.tree.noun(at, self.days))

    def _first_days(self) -> None:
        """ "First day at Verlaine Optics", "Arne's last week as tech lead", "first night in the new house"."""
        for at, token in enumerate(self.tree.tokens):
            which = {self.tree.tokens[i].low for i in self.tree.kids(at, "amod")} & {"first", "last"}
            if token.low not in STRETCHES or len(which) != 1:
                continue
            noun = self.tree.noun(at, self.days)
            who = self._owner(noun.owner) if noun.owner else self.talk.speaker
            doer = self.tree.kid(token.head, "nsubj") if not who and token.dep == "dobj" else None
            who = self.whom(self.tree.noun(doer, self.days)) if doer is not None else who
            for i in self.tree.kids(at, "prep"):
                inner, prep = self.tree.kid(i, "pobj"), self.tree.tokens[i].low
                name = _STATIONS.get((token.low, prep)) or _STATIONS.get(("", prep))
                if inner is None or inner in self.days or name is None or not who:
                    continue
                where = self.tree.noun(inner, self.days)
                family = self.families.all[name]
                if family.object == "organisation" and not where.proper:
                    continue
                value, kind = self._value(where, None, who, family)
                claim = replace(
                    self._claim(who, family.reads, family.name, value, kind, None), family=family.name,
                    effect="begins" if "first" in which else "ends", cue="" if "first" in which else "ends",
                    holds=family.holds, matter=where.lemma, others=_SCHOOLS if name == "works_at" else (),
                )  # fmt: skip
                span = next(iter(self.days.values()), None)
                if span is not None and value:
                    claim = replace(claim, valid_from=span.start, precision=span.precision, begins=True)
                self._keep(claim if value else None, noun)

    def _role_at(self, at: int) -> None:
        """A role right in front of a name or of several: "my two dogs, Rex and Luna" are two."""
        names = self._names_behind(at)
        if not names:
            return
        self._note_names(at)
        start = at
        while (
            start > 0
            and self.tree.tokens[start - 1].tag in ("JJ", "NN", "CD")
            and self.tree.tokens[start - 1].end < self.tree.tokens[start].begin
        ):
            start -= 1
        before = self.tree.tokens[start - 1] if start else None
        owner = ""
        if before is not None and before.tag == "PRP$":
            owner = self.recent if before.low in THEY and self.recent else self._pronoun(before.low)
            if not owner:
                return
        elif before is not None and before.tag == "POS" and start > 1:
            owner = self._owner(self.tree.said(self.tree.under(start - 2, ("case",))))
        else:
            kin = self.tree.tokens[at].low in words("kin.txt") and is_somebody(self.talk.speaker)
            mine = self.talk.speaker if kin else self._served_by(self.tree.tokens[at].low)
            owner = self._had_by(at) or self.talk.topic or mine
        said = [i for i in range(start, at) if self.tree.tokens[i].low not in IDLE_MODIFIERS
                and self.tree.tokens[i].tag != "CD"]  # fmt: skip
        role = f"{self.tree.said(said)} {self._one_of(at)}".strip()
        if before is None or before.tag not in ("PRP$", "POS"):
            names = (
                names if self._one_of(at) not in words("animals.txt") else []
            )  # "own two horses, Rex and Ace"
        for name in names:
            noun = self.tree.noun(at, self.days)
            self._role(
                owner,
                role,
                name,
                replace(noun, chars=(noun.chars[0], self._end_of(name, noun))),
            )

    def _served_by(self, role: str) -> str:
        """Whose dentist it is that somebody calls just the dentist: the speaker's, as of whatever one has one of."""
        held = [named.family for named in self.families.by_noun(role)]
        own = held and all(
            f.subject == f.object == "person" and f.holds == "one" and not f.bond for f in held
        )
        own = own and all(f.name != "reports_to" for f in held)  # a manager may be of anything
        return self.talk.speaker if own and is_somebody(self.talk.speaker) and not self.talk.topic else ""

    def _one_of(self, at: int) -> str:
        """The noun of each of several: "brothers" → "brother"."""
        token = self.tree.tokens[at]
        return token.lemma.lower() if token.tag == "NNS" else token.text

    def _had_by(self, at: int) -> str:
        """ "Pia has two sons, Max and Leo": whose they are."""
        while self.tree.tokens[at].dep == "conj":
            at = self.tree.tokens[at].head
        verb = self.tree.tokens[at].head
        who = self.tree.kid(verb, "nsubj") if self.tree.tokens[verb].lemma in ("have", "get", "own") else None
        return self.whom(self.tree.noun(who, self.days)) if who is not None else ""

    def _end_of(self, name: str, noun: Noun) -> int:
        """Where a name that stands behind a role ends."""
        found = self.tree.text.find(name, noun.chars[0] - self._offset)
        return noun.chars[1] if found < 0 else self._offset + found + len(name)

    def _names_behind(self, at: int) -> list[str]:
        tokens, place = self.tree.tokens, at + 1
        if place < len(tokens) and tokens[place].text == "," and place + 1 < len(tokens):
            closed = any(t.text == "," for t in tokens[place + 1 : place + 5])
            place += 1 if closed or tokens[at].tag == "NNS" else 0
        found: list[str] = []
        run: list[int] = []
        while place < len(tokens):
            token = tokens[place]
            if (
                token.tag in ("NNP", "NNPS")
                and token.text[:1].isupper()
                and token.low not in words("person_roles.txt")
                and place not in self.days
            ):
                run.append(place)
            elif found and not run and token.text in (",", "and"):
                pass
            elif run:
                found.append(self.tree.said(run))
                run = []
                if token.text not in ("and", ",") or tokens[at].tag != "NNS":
                    break
            else:
                break
            place += 1
        return [*found, self.tree.said(run)] if run else found

    def _apposition(self, at: int, noun: Noun) -> None:
        """ "my accountant, Ms Bloch", "my brother Samir, a beekeeper", "Priya, our new designer"."""
        name = noun.text if noun.proper else noun.name
        if name and not noun.proper and noun.owner and not self._names_behind(at):
            self._role(self._owner(noun.owner), self.tree.short(noun).text, name, noun)
        for i in self.tree.kids(at, "appos"):
            other = self.tree.noun(i, self.days)
            if (
                not name
                or self.tree.called(i)
                or other.proper
                or other.pronoun
                or self.tree.tokens[i].pos not in ("NOUN", "NUM")
            ):
                continue
            if (age := self._aged(name, other)) is not None:
                self._keep(age, noun)
            if i in self.days or NUMBER.search(other.text):
                continue
            owner = self._owner(other.owner)
            if other.owner and owner:
                self._role(owner, self.tree.short(other).text, name, other)
            elif not other.owner and (
                other.indefinite or other.of or other.lemma in words("person_roles.txt")
            ):
                self._is_a(noun, name, other)

    def _is_a(self, noun: Noun, subject: str, what: Noun) -> None:
        self._keep(self._attribute(subject, what, "is"), noun)

    def _role(self, owner: str, role: str, name: str, noun: Noun) -> None:
        """The owner's ROLE is NAME."""
        role = FRESH.sub("", role)
        if not owner or owner == name or not role:
            return
        self.talk.named[f"{owner}|{role.split()[-1]}"] = self.recent = name
        self._keep(self._noun_claim(owner, role, name, "entity"), noun)

    def _keep(self, claim: Claim | None, noun: Noun | None, clause: Clause | None = None) -> None:
        if claim is None or not claim.subject or (not claim.object and claim.effect != "ends"):
            return
        chars = self._chars(clause, noun)
        claim = replace(claim, chars=chars)
        if clause is not None:
            claim = self._dated(claim, clause)
            claim = replace(claim, ahead=clause.tense == "future" and claim.valid_from is None)
        known = {(c.subject, c.key, c.object.lower(), c.effect) for c in self.found}
        if (claim.subject, claim.key, claim.object.lower(), claim.effect) not in known:
            self.found.append(claim)

    def _chars(self, clause: Clause | None, noun: Noun | None) -> tuple[int, int]:
        shift = self.said.begin
        if clause is not None:
            return (
                shift + min(self.tree.tokens[i].begin for i in clause.own),
                shift + max(self.tree.tokens[i].end for i in clause.own),
            )
        assert noun is not None
        return shift + noun.chars[0], shift + noun.chars[1]

    def _comes_with(self, what: Noun) -> Noun | None:
        """ "Zofia is the one with the peanut allergy": she has it."""
        prep = next((i for i in self.tree.kids(what.at, "prep") if self.tree.tokens[i].low == "with"), None)
        inner = self.tree.kid(prep, "pobj") if prep is not None else None
        return self.tree.noun(inner, self.days) if inner is not None else None

    def _whose(self, what: Noun) -> str:
        """ "is my aunt's", "is ours", "is the marina's property": whose it is."""
        if what.text.lower() in ("mine", "ours"):
            return self.talk.speaker
        if what.lemma == "property" and what.owner:
            return self._owner(what.owner)
        return self.whom(what).removesuffix("'s") if self.tree.kid(what.at, "case") is not None else ""

    def _names_amount(self, name: str, what: Noun) -> bool:
        """ "The rent is 950 euros": the noun itself says which amount it is."""
        return bool(MONEY.search(what.text)) and any(
            n.family.object in ("amount", "money") for n in self.families.by_noun(name)
        )
