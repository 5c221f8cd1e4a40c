"""Notes in the style of a telegram: "MOT due 22 August", "weight 83.4 kg", "Pt. Gareth Lumb, 58, ex-smoker".

A stretch between commas that has no verb says something by itself where a noun stands right in front of
a value, or where it follows the name of whom the note is about. Whoever is named first without a verb
is what a note speaks of, and its verbs without a subject mean that one.

    "Interview, Silvan Pettigrew. Speaks German." → Silvan Pettigrew speaks German
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from worldline.lexicon import lines, words
from worldline.reading.claim import Claim, predicate_key
from worldline.reading.nouns import Nouns
from worldline.reading.tree import Noun
from worldline.reading.whom import NUMBER
from worldline.text import stop

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
        """Whom a note is about: the name that its first words without a verb are or call."""
        first = next(self._stretches(), None)
        if self.talk.topic or self.talk.begun or first is None:
            return
        self.talk.begun = True
        root = self.tree.root
        if self.tree.tokens[root].pos in ("VERB", "AUX") or self.tree.text.rstrip().endswith("?"):
            return
        for at in (root, *self.tree.kids(root, "appos", "npadvmod")):
            noun = self.tree.short(self.tree.noun(at, self.days, deep=False))
            full = at != root and len(noun.text.split()) > 1 and noun.text.istitle()
            person = full or self._is_who(noun, noun.text) == "person"
            if self.tree.tokens[at].pos == "PROPN" and person and at not in self.days:
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

    def _spoken_of(self) -> str:
        """The thing that the sentence in front speaks of: "The bell was recast, weight 820 kg"."""
        name = self.whom(self.subject) if self.subject is not None else ""
        thing = self.subject is not None and self._is_who(self.subject, name) != "person"
        return name if thing else ""

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
        owner = self.talk.topic or self._spoken_of() or (self.talk.speaker if mine else "")
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
