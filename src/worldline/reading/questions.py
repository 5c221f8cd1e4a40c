"""A question, read once: what kind of answer it wants, about whom, in which relation, of which time.

It knows the language and no store: the word that asks, the gap that an answer would fill, the
families of relations that fit the wording with that gap, the names and roles ("Femi's wife"), and
the words that an answer's source should meet. Without the parser there is no reading.

    "Who does Femi's wife work for?" → wants a name; works_at, the object; of Femi → wife
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache

from msgspec import Struct

from worldline.dates import find_dates
from worldline.lexicon import words
from worldline.reading import parser
from worldline.reading.claim import stem
from worldline.reading.families import Families, Family, families
from worldline.reading.parser import Token
from worldline.text import stop

# Which families a wording may ask for ----------------------------------------------------------------


WH = frozenset("who whom whose what which where when why how".split())
PLACE_PREPS = ("in", "at", "on", "for", "to", "from", "with", "by", "near", "into", "of")


class Asks(Struct, frozen=True):
    """A family that the wording fits, the end that is asked for, and the stems that this explains."""

    family: Family
    role: str
    strength: float
    explains: frozenset[str] = frozenset()


def is_idle(word: str) -> bool:
    """Carries no content."""
    return word in stop() or stem(word) in stop()


def grown(
    base: str, tail: Sequence[Token], front: str, place: bool
) -> Iterator[tuple[str, bool, frozenset[str]]]:
    """A verb with what may belong to it: "work", "work for", "take care of"."""
    said, stems = base, {stem(base.split()[-1])}
    yield said, False, frozenset(stems)
    for prep in (front,) if front else PLACE_PREPS if place else ():
        yield f"{said} {prep}", True, frozenset(stems)
    for token in tail[:3]:
        said = f"{said} {token.low if token.tag in ('IN', 'TO', 'RP') else token.lemma.lower()}"
        stems = stems | {stem(token.low)}
        yield said, token.tag in ("IN", "TO"), frozenset(stems)
        if front:
            yield f"{said} {front}", True, frozenset(stems)


def can_be(wh: str, family: Family, role: str) -> bool:
    """Whether the end that is asked for can answer the word that asks."""
    kind = family.object if role == "O" else family.subject
    if wh in ("who", "whom"):
        return kind in ("person", "organisation", "any", "animal") or (role == "S" and kind != "thing")
    if wh == "where":
        return kind in ("place", "organisation", "thing", "goods", "text", "any", "contact")
    if wh == "when":
        return kind in ("date", "time") or role == "O"
    if wh == "how":
        return kind in (
            "amount",
            "money",
            "count",
            "duration",
            "date",
            "time",
            "text",
            "thing",
            "goods",
            "state",
        )
    return True


class Template(Struct, frozen=True):
    """A question that the table of families spells out."""

    family: Family
    wh: str
    content: frozenset[str]
    said: str

    @property
    def bare(self) -> re.Pattern[str]:
        """Its whole wording, made when a question may be meant by it."""
        return _whole(self.said)


@cache
def _whole(said: str) -> re.Pattern[str]:
    parts = [
        "[^ ]+(?: [^ ]+){0,3}" if w == "s" else "[^ ]+(?: [^ ]+){0,2} 's" if w == "S's" else re.escape(w)
        for w in said.split()
    ]
    return re.compile(" ".join(parts))


@cache
def templates() -> tuple[Template, ...]:
    """The questions that the table spells out."""
    found = []
    for family in families().all.values():
        for said in family.asks:
            low = said.lower().replace("s's", "S's").split()
            wh = next((w for w in low if w in WH), "")
            content = frozenset(stem(w) for w in low if not is_idle(w) and w not in ("s", "S's"))
            if wh:
                found.append(Template(family, wh, content, " ".join(low)))
    return tuple(found)


# Reading ---------------------------------------------------------------------------------------------


ME = frozenset("i me my mine we us our ours myself ourselves".split())
_SPELT = {
    "whats": "what's",
    "wheres": "where's",
    "whos": "who's",
    "wen": "when",
    "hows": "how's",
    "wich": "which",
    "mnay": "many",
}
_AUX = frozenset(
    "do does did is are was were am 's 're has have had will would can could should 'll 'd s".split()
)
_BE = frozenset("is are was were am 's 're be been being s".split())
_DO = frozenset("do does did".split())
_GENERIC = frozenset(
    "name kind type sort thing one person people somebody someone make brand title number amount many much date "
    "day time year month weekday week detail current currently now today nowadays present moment latest recent "
    "recently late new old former formerly previous previously first last originally original initially beginning "
    "before after still actually really exactly finally end these days actual far so ever different own usually "
    "normally tell remind know according likely call called named per since along because very behind most".split()
)
"""Words that say how to answer rather than what about."""
_FORMER = re.compile(
    r"\b(?:before|used? to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?|at first|old|earlier|once"
    r"|(?:in|at) the (?:very )?(?:beginning|start|outset)|to begin with"
    r"|first (?:quoted|planned|offered|agreed|set|booked|named|chosen))\b"
    r"|\b(?:mov|switch|chang|migrat|relocat|transferr?|upgrad)(?:e|ed|es|ing)? (?:\w+ )?from\W*$",
    re.I,
)
_IS_MONTH = re.compile(
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
)
_TIMED = frozenset("in on by since during until till last next this of early mid late".split())
AHEAD = re.compile(
    r"\b(?:will|shall|going to|upcoming|next|soon|would|(?:plan|want|hope|intend|mean)(?:s|ed|n?ing)?)\b|'ll\b",
    re.I,
)
"""What asks for what is still to come."""
_NOW = re.compile(
    r"\b(?:now|currently|current|these days|nowadays|at the moment|at present|presently|today|still|latest|most recent"
    r"|right now)\b",
    re.I,
)
_LAST = re.compile(r"\b(?:latest|most recent|last|newest|final(?:ly)?|in the end|eventually)\b", re.I)
_FIRST = re.compile(r"\b(?:first|earliest|original(?:ly)?|initial(?:ly)?)\b", re.I)
_ORDER = re.compile(
    r"\b(?:(?:came|come|happened|was|is) (?:first|earlier|later|before)|in (?:which|what) order"
    r"|put (?:these|them|in order)|which (?:of|came|happened)|how (?:much|many) (?:more|less|fewer|longer|older)"
    r"|by how (?:much|many)|altogether|in total|difference)\b",
    re.I,
)
_WHY = re.compile(r"^\s*(?:why\b|how come\b)|\b(?:reason|purpose)\b", re.I)
_ABOUT = re.compile(
    r"^\W*(?:and |so |but |ok(?:ay)? )*(?:what|how) (?:about|of)\b(?![^?]*\b(?:is|are|was|were|do|does|did)\b)",
    re.I,
)
"""Who asks "what about the mill?" leaves open what they want to know of it: no single value is the answer."""
_KIND = re.compile(r"\b(?:what|which) (?:kind|type|sort|breed|variety|make|brand|model|colou?r) ", re.I)
"""Who asks what kind of dog it is does not ask for its name."""
_YOU = re.compile(r"\b(?:you|your)\b", re.I)
_ASKING = re.compile(rf"\b(?:{'|'.join(sorted(WH))})", re.I)
_MINE = re.compile(rf"\b(?:{'|'.join(sorted(ME))})\b", re.I)
_PRICED = re.compile(
    r"\bhow much\b(?:(?: money| cash)|.{0,80}\b(?:costs?|pays?|paid|charged?|spen[dt]|earns?|owed?|quoted?|worth"
    r"|refund\w*|fees?|rent|price)\b|.{0,60}\b(?:get|got|ask|asked|want|offer\w*) for\b"
    r"|\W+(?:is|are|was|were|will|would) (?:it|they|the|an?|my|our|his|her|their|this|that)\b"
    r"(?!.*\b(?:left|over|in)\b))",
    re.I,
)
"""Who asks how much something was asks for its price, unless it is named what there is much of."""
_COSTS = re.compile(
    r"\bwhat (?:does|do|did|will|would|should|has|have|is|was) .{1,60}"
    r"\b(?:costs?|charged?|pay|paid|earn|quoted?|owe)\b",
    re.I,
)
_LENGTH = re.compile(r"\bhow long\W+(?:is|are|was|were) (?!it\b|there\b)", re.I)
"""A boat is so many metres long, a way to work so many minutes."""
MONEY_NOUNS = frozenset(
    "price cost rent fee salary budget wage pay bill fare fine deposit charge income debt fund money rate".split()
)
PLACE_NOUNS = frozenset(
    "city town village country place state region street address location neighbourhood neighborhood district "
    "suburb island county continent venue building floor area".split()
)
DATE_NOUNS = frozenset("date day month year weekday birthday deadline anniversary".split())
_UNITS = {
    "minute": "duration", "hour": "duration", "day": "duration", "week": "duration", "month": "duration",
    "year": "duration", "euro": "money", "dollar": "money", "pound": "money",
}  # fmt: skip
_HOW = {
    "many": "count", "much": "amount", "old": "age", "long": "duration", "often": "frequency", "far": "distance",
    "tall": "amount", "high": "amount", "big": "amount", "large": "amount", "heavy": "amount", "fast": "amount",
    "wide": "amount", "deep": "amount", "frequently": "frequency",
}  # fmt: skip
_WANTS_OF = {
    "person": "name", "organisation": "name", "animal": "name", "place": "place", "date": "date", "time": "clock",
    "duration": "duration", "amount": "amount", "money": "amount", "count": "count",
    "weekday": "date",
}  # fmt: skip


class Whose(Struct, frozen=True):
    """A name (empty: the one who asks) and the roles counted from it: Femi → wife."""

    name: str
    roles: tuple[str, ...] = ()


class Question(Struct, frozen=True):
    """What a question wants."""

    text: str
    wh: str
    wants: str
    """name place date clock weekday duration length money amount count age frequency distance thing, else yesno …"""
    noun: str
    """What the answer is called: "which city"; empty for "who"."""
    asks: tuple[Asks, ...]
    whose: tuple[Whose, ...]
    names: tuple[str, ...]
    words: tuple[str, ...]
    """Stems that the source of an answer should meet, without names."""
    mode: str = "now"
    """now, former, at (a date), or past: something that happened."""
    pick: str = ""
    """first or last, where the question says so."""
    many: bool = False
    mine: bool = False
    when: tuple[int, int] | None = None
    verb: str = ""
    """The stem of its main verb."""
    gap: str = "object"
    you: bool = False
    apart: tuple[str, ...] = ()
    """Names that only tell what is not meant: "before Hamza"."""
    ahead: bool = False
    """Whether it asks for what is still to come."""
    sorts: tuple[tuple[str, str], ...] = ()
    """Things that a noun tells from others of their kind, as stems: the water meter → (meter, water)."""


def sorts_in(tokens: Sequence[Token]) -> tuple[tuple[str, str], ...]:
    """The things of a sentence that a noun before them tells from others, and that noun, as stems."""
    pairs = [(tokens[t.head], t) for t in tokens if t.dep == "compound" and t.pos == "NOUN"]
    return tuple((stem(head.low), stem(sort.low)) for head, sort in pairs if head.pos == "NOUN")


def read_question(text: str, asked_at: datetime | None = None) -> Question | None:
    """A question as it is understood; None without the parser or where nothing is asked.

    Where no word asks for a value ("lunch with Bo"), there is nothing to find out, and no tree is made.
    """
    plain = " ".join(_SPELT.get(w.lower(), w) for w in text.strip().replace("’", "'").split())
    if plain and parser.active() and not _ASKING.search(plain):
        return Question(text, "", "yesno", "", (), (), (), (), mine=bool(_MINE.search(plain)))
    sentences = parser.parse([plain])[0]
    tokens = _asking(sentences)
    if not tokens:
        return None
    return _QuestionReader(text, tokens, asked_at).read()


def _asking(sentences: Sequence[Sequence[Token]]) -> Sequence[Token]:
    """The sentence that asks: the last one with a question word, else the last one."""
    for tokens in reversed(sentences):
        if any(t.low in WH for t in tokens):
            return tokens
    return sentences[-1] if sentences else ()


class _QuestionReader:
    """One question being read."""

    def __init__(self, text: str, tokens: Sequence[Token], asked_at: datetime | None) -> None:
        self.text, self.tokens, self.asked_at = text, tokens, asked_at
        self.table: Families = families()
        self.at = next((i for i, t in enumerate(tokens) if t.low in WH), -1)
        self.head = self._phrase_end()
        """The place behind the words that ask."""
        self.aux = self._aux()

    def read(self) -> Question:
        wh = self.tokens[self.at].low if self.at >= 0 else ""
        noun = self._noun()
        names = tuple(self._names())
        verb = self._verb()
        asks = tuple(self._asks(wh, noun))
        ahead = bool(AHEAD.search(self.text))
        dates = find_dates(self.text, self.asked_at, tense="future" if ahead else "") if self.asked_at else []
        wants = self._wants(wh, noun, asks)
        return Question(
            self.text, wh, wants, noun, asks, tuple(self._whose()), names,
            tuple(self._words(names, dates)), self._mode(wants, bool(dates)),
            "last" if _LAST.search(self.text) else "first" if _FIRST.search(self.text) else "",
            self._many(), any(t.low in ME for t in self.tokens),
            (dates[0].start, dates[0].end) if dates else None, stem(verb) if verb else "",
            self._gap(), bool(_YOU.search(self.text)), tuple(name for name, apart in self._runs() if apart),
            ahead, sorts_in(self.tokens),
        )  # fmt: skip

    # The words that ask ---------------------------------------------------------------------------------

    def _phrase_end(self) -> int:
        """Behind "which evening courses", "how many hours", "whose car"."""
        i = self.at + 1
        if self.at < 0:
            return 0
        if self.tokens[self.at].low not in ("what", "which", "how", "whose"):
            return i
        while i < len(self.tokens) and not self._opens_clause(i):
            i += 1
        return i

    def _opens_clause(self, i: int) -> bool:
        token = self.tokens[i]
        if token.low in _AUX:
            return True
        if token.tag in ("PRP", "TO", ".", ",", "DT"):
            return token.tag != "DT" or self.tokens[i - 1].low != "of"
        return token.tag in ("VBZ", "VBD", "VBP", "MD") or (
            token.tag == "NNP" and self.tokens[i - 1].tag in ("NN", "NNS")
        )

    def _aux(self) -> int:
        """The helping verb that opens the clause; -1 where the answer itself is the subject."""
        return self.head if self.head < len(self.tokens) and self.tokens[self.head].low in _AUX else -1

    def _noun(self) -> str:
        """What the answer is called, in base form."""
        phrase = [
            t
            for t in self.tokens[self.at + 1 : self.head]
            if t.tag in ("NN", "NNS", "NNP", "NNPS", "JJ", "VBG")
        ]
        nouns = [t for t in phrase if t.tag.startswith("NN")]
        unit = next((t.lemma.lower() for t in nouns if t.lemma.lower() in _UNITS), "")
        if unit and self.tokens[self.at].low == "how":
            return unit
        wh = self.tokens[self.at].low if self.at >= 0 else ""
        if nouns and wh in ("what", "which", "how", "whose"):
            end = next(
                (
                    i
                    for i, t in enumerate(nouns)
                    if t.low in ("kind", "type", "sort", "make", "brand", "name")
                ),
                None,
            )
            if end is not None and end + 1 < len(nouns):
                return nouns[-1].lemma.lower()
            return self._before_of(nouns)[-1].lemma.lower()
        if wh in ("what", "when", "who", "how") and self.aux >= 0 and self.tokens[self.aux].low in _BE:
            return self._being()
        return ""

    def _before_of(self, nouns: Sequence[Token]) -> Sequence[Token]:
        """ "What dose of metformin" asks for a dose, "which of the rooms" for a room."""
        of = next((t.begin for t in self.tokens[self.at + 1 : self.head] if t.low == "of"), None)
        return [t for t in nouns if of is None or t.begin < of] or nouns

    def _being(self) -> str:
        """ "What is Tom's job?": the head of what follows."""
        rest = self.tokens[self.aux + 1 :]
        found = ""
        for i, token in enumerate(rest):
            if (
                token.tag in ("IN", "TO", "WDT", "WP", ".", ",", "VBN", "VBD", "VBZ", "VBG", "VBP", "RB")
                and found
            ):
                if token.low == "of" and found in ("name", "date", "number"):
                    found = ""
                    continue
                break
            if token.tag in ("NN", "NNS"):
                found = token.lemma.lower()
            elif token.tag in ("NNP", "NNPS") and (i + 1 >= len(rest) or rest[i + 1].tag != "POS"):
                found = found or ""
        return found

    def _wants(self, wh: str, noun: str, asks: Sequence[Asks]) -> str:
        """The kind of answer."""
        if _ABOUT.search(self.text):
            return "about"
        if self.at < 0:
            return "yesno"
        if _WHY.search(self.text):
            return "reason"
        if _ORDER.search(self.text):
            return "order"
        if wh in ("who", "whom", "whose"):
            return "name"
        if wh == "where":
            return "place"
        if wh == "when":
            return "date"
        if wh == "how":
            return self._how(noun)
        return self._what(noun, asks)

    def _how(self, noun: str) -> str:
        low = [t.low for t in self.tokens[self.at + 1 : self.at + 3]]
        kind = _HOW.get(low[0], "reason") if low else "reason"
        named = self.tokens[self.at + 2].tag.startswith("NN") if len(low) > 1 else False
        if kind == "amount" and _PRICED.search(self.text) and (not named or low[1] in MONEY_NOUNS):
            return "money"
        if kind == "duration" and _LENGTH.search(self.text):
            return "length"
        if kind == "count" and noun in _UNITS:
            return _UNITS[noun]
        return kind

    def _what(self, noun: str, asks: Sequence[Asks]) -> str:
        if _KIND.search(self.text):
            return "thing"
        if noun == "time":
            return "clock"
        if re.search(
            r"\b(?:day of the week|weekdays?|which days|what days|days of the week)\b", self.text, re.I
        ):
            return "weekday"
        if noun in DATE_NOUNS or re.search(
            r"\b(?:birth ?date|date of|(?:what|which) (?:date|day|month|year))\b", self.text, re.I
        ):
            return "date"
        if noun in words("codes.txt") or re.search(r"\be-?mail address\b", self.text, re.I):
            return "code"
        if noun in MONEY_NOUNS or _COSTS.search(self.text):
            return "money"
        if noun in PLACE_NOUNS:
            return "place"
        if re.search(r"\b(?:name of|names of|called|named)\b", self.text) or noun in ("name", "surname"):
            return "name"
        if noun in words("person_roles.txt") and noun not in ("team",):
            return "name"
        best = max((a for a in asks if a.role == "O"), key=lambda a: a.strength, default=None)
        if (
            best is None
            or best.strength < 0.8
            or (noun and noun not in (*best.family.kinds, *best.family.nouns))
        ):
            return "thing"
        return _WANTS_OF.get(best.family.object, "thing")

    # Verb and gap ---------------------------------------------------------------------------------------

    def _gap(self) -> str:
        """Whether the answer is the grammatical subject."""
        if self.aux < 0:
            return "subject"
        token = self.tokens[self.aux]
        after = next((t for t in self.tokens[self.aux + 1 :] if t.tag not in ("RB", "RBR")), None)
        if token.low in _DO or after is None:
            return "object"
        return (
            "subject"
            if after.tag in ("VBG", "VBN", "VB", "VBD") or (after.tag == "IN" and token.low in _BE)
            else "object"
        )

    def _verb(self) -> str:
        """The main verb in base form; empty for "be"."""
        for i in range(max(self.head, 0), len(self.tokens)):
            token = self.tokens[i]
            if token.tag.startswith("VB") and i != self.aux and token.low not in _AUX and not self._inside(i):
                return token.lemma.lower()
        noun = self._last_noun()
        return self.tokens[noun].lemma.lower() if noun >= 0 else ""

    def _inside(self, i: int) -> bool:
        """In a clause that only tells who is meant: "the drummer who was there before"."""
        return any(self.tokens[j].low in ("who", "that", "which", "whose") for j in range(self.head, i))

    def _wordings(self) -> Iterator[tuple[str, bool, frozenset[str]]]:
        """Verb phrases as patterns write them, with whether a preposition closes them, and their stems."""
        said = [
            i for i in range(max(self.head, 0), len(self.tokens)) if i != self.aux and not self._inside(i)
        ]
        front = (
            self.tokens[self.at - 1].low
            if self.at > 0 and self.tokens[self.at - 1].tag in ("IN", "TO")
            else ""
        )
        for place, i in enumerate(said):
            token = self.tokens[i]
            verbal = token.tag.startswith("VB") or i == self._last_noun()
            if not verbal or (token.low in _AUX and token.low not in ("have", "had", "has")):
                continue
            passive = (
                token.tag in ("VBN", "VBD")
                and self.aux >= 0
                and self.tokens[self.aux].low in _BE | {"has", "have", "had"}
            )
            bases = (
                [f"be {token.low}"] if passive and self.tokens[self.aux].low in _BE else [token.lemma.lower()]
            )
            tail = [self.tokens[j] for j in said[place + 1 :] if self.tokens[j].tag not in _SKIPPED]
            for base in bases:
                yield from grown(base, tail, front, self._wh_is_place())

    def _wh_is_place(self) -> bool:
        return self.at >= 0 and self.tokens[self.at].low in ("where", "when")

    def _last_noun(self) -> int:
        """ "How much does the hotel cost": a verb that was taken for a noun; -1 where there is none."""
        if self.aux < 0 or self.tokens[self.aux].low not in _DO:
            return -1
        head = self.tokens[self.aux].head
        return head if head > self.aux and not self.tokens[head].tag.startswith("VB") else -1

    # Families -------------------------------------------------------------------------------------------

    def _asks(self, wh: str, noun: str) -> Iterator[Asks]:
        best: dict[tuple[str, str], Asks] = {}
        for found in (*self._by_verb(wh), *self._by_template(wh), *self._by_noun(wh)):
            key = (found.family.name, found.role)
            if key not in best or best[key].strength < found.strength:
                best[key] = found
        for found in best.values():
            named = noun and (noun in found.family.kinds or noun in found.family.nouns)
            yield Asks(
                found.family,
                found.role,
                found.strength + (0.1 if named else 0.0),
                found.explains | ({stem(noun)} if named else frozenset()),
            )

    def _by_verb(self, wh: str) -> Iterator[Asks]:
        gap = self._gap()
        for verb, behind, stems in self._wordings():
            for pattern in self.table.by_verb(verb):
                if gap == "subject":
                    role = pattern.subject
                else:
                    role = pattern.behind if behind else pattern.direct or pattern.behind
                if role in ("S", "O") and pattern.effect != "ends" and can_be(wh, pattern.family, role):
                    light = 0.5 if verb.removeprefix("be ") in _WEAK else 0.0
                    yield Asks(pattern.family, role, 1.0 - 0.1 * (pattern.effect == "begins") - light, stems)

    def _by_template(self, wh: str) -> Iterator[Asks]:
        low = " ".join(t.low for t in self.tokens if t.tag != ".")
        stems = {stem(t.low) for t in self.tokens if not is_idle(t.low)}
        for template in templates():
            if template.wh != wh or not template.content <= stems:
                continue
            whole = template.bare.fullmatch(low) is not None
            if template.content or whole:
                yield Asks(
                    template.family,
                    "O",
                    0.7 + 0.1 * min(len(template.content), 2) + 0.1 * whole,
                    template.content,
                )

    def _by_noun(self, wh: str) -> Iterator[Asks]:
        places = [
            i
            for i in range(len(self.tokens))
            if self.tokens[i].tag in ("NN", "NNS", "NNP", "JJ", "VBG", "VBN")
        ]
        for i in places:
            for n in (3, 2, 1):
                run = range(i, i + n)
                if not all(j in places for j in run) or self.tokens[i + n - 1].tag not in (
                    "NN",
                    "NNS",
                    "NNP",
                ):
                    continue
                said = " ".join(
                    [*(self.tokens[j].low for j in run[:-1]), self.tokens[i + n - 1].lemma.lower()]
                )
                for family in self.table.nouns.get(said, ()):
                    if can_be(wh, family, "O"):
                        yield Asks(family, "O", 0.7 + 0.05 * n, frozenset(stem(w) for w in said.split()))

    # About whom -----------------------------------------------------------------------------------------

    def _names(self) -> Iterator[str]:
        """The names of what it is about."""
        return (name for name, apart in self._runs() if not apart)

    def _runs(self) -> Iterator[tuple[str, bool]]:
        """Runs of capitals and numbers that name something, and whether it is set apart; "in January" names nothing."""
        run: list[Token] = []
        for i, token in enumerate(self.tokens):
            named = _is_name(token, i) and not (_IS_MONTH.fullmatch(token.text) and self._says_when(i))
            if named or (run and token.low == "&"):
                run.append(token)
                continue
            if run:
                yield _joined(run), self._set_apart(i - len(run))
            run = []
        if run:
            yield _joined(run), self._set_apart(len(self.tokens) - len(run))

    def _says_when(self, at: int) -> bool:
        """ "in May", "last June", "5 August": what stands in front makes a time of it."""
        before = self.tokens[at - 1].low if at else ""
        return before in _TIMED or before[:1].isdigit()

    def _set_apart(self, at: int) -> bool:
        """ "before Hamza", "besides Rome": named to tell what is not meant."""
        return at > 0 and self.tokens[at - 1].low in ("before", "than", "besides", "except", "after")

    def _whose(self) -> Iterator[Whose]:
        """Owners and the roles counted from them."""
        for i, token in enumerate(self.tokens):
            if token.tag == "PRP$" and token.low in ME:
                yield Whose("", tuple(self._roles_behind(i + 1)))
            elif token.tag == "POS" and i > 0 and not self._is_owned(i):
                name = self._name_before(i)
                if name:
                    yield Whose(name, tuple(self._roles_behind(i + 1)))
            elif token.low == "of" and i > 0 and self.tokens[i - 1].tag in ("NN", "NNS"):
                name = self._name_behind(i + 1)
                if name:
                    yield Whose(name, (self._run_before(i),))

    def _is_owned(self, i: int) -> bool:
        """The second 's of "Femi's wife's boss" belongs to the first."""
        j = i - 1
        while j >= 0 and self.tokens[j].tag in ("NN", "NNS", "JJ"):
            j -= 1
        return j >= 0 and self.tokens[j].tag in ("POS", "PRP$") and j < i - 1

    def _name_before(self, i: int) -> str:
        j = i
        while j > 0 and (_is_name(self.tokens[j - 1], j - 1)):
            j -= 1
        if j < i:
            return _joined(self.tokens[j:i])
        return self.tokens[i - 1].text if self.tokens[i - 1].tag in ("NN", "NNS") else ""

    def _name_behind(self, i: int) -> str:
        while i < len(self.tokens) and self.tokens[i].tag == "DT":
            i += 1
        j = i
        while j < len(self.tokens) and _is_name(self.tokens[j], j):
            j += 1
        if j > i:
            return _joined(self.tokens[i:j]) if j >= len(self.tokens) or self.tokens[j].tag != "POS" else ""
        return ""

    def _run_before(self, i: int) -> str:
        j = i
        while (
            j > 0
            and self.tokens[j - 1].tag in ("NN", "NNS", "JJ", "VBG")
            and self.tokens[j - 1].low not in _AUX
        ):
            j -= 1
        return " ".join(t.low for t in self.tokens[j:i])

    def _roles_behind(self, i: int) -> list[str]:
        """The nouns behind an owner, each up to the next 's."""
        found: list[str] = []
        run: list[str] = []
        verb = self._last_noun()
        for token in self.tokens[i : verb if verb > i else None]:
            if token.tag in ("NN", "NNS", "JJ", "VBG", "NNP", "JJS", "CD"):
                run.append(token.low if token.tag != "NNS" else token.lemma.lower())
            elif token.tag == "POS" and run:
                found.append(" ".join(run))
                run = []
            else:
                break
        return [*found, " ".join(run)] if run else found

    # The rest -------------------------------------------------------------------------------------------

    def _words(self, names: Sequence[str], dates: Sequence[object]) -> list[str]:
        """Stems of what is asked about, without names, dates and words that only ask."""
        inside = {stem(w) for name in names for w in re.findall(r"[^\W_]+", name.lower())}
        dated = [getattr(d, "chars", (0, 0)) for d in dates]
        found: dict[str, None] = {}
        for i, token in enumerate(self.tokens):
            low = token.lemma.lower()
            if (
                is_idle(token.low)
                or token.low in _GENERIC | _CUT_OFF
                or low in _GENERIC
                or not token.text[0].isalnum()
            ):
                continue
            if (
                i == self.at
                or token.low in _AUX
                or low in _LIGHT
                or any(a <= token.begin < b for a, b in dated)
            ):
                continue
            if stem(token.low) not in inside:
                found[stem(token.low)] = None
        return list(found)

    def _mode(self, wants: str, dated: bool) -> str:
        if _NOW.search(self.text):
            return "now"
        if _FORMER.search(self.text):
            return "former"
        if dated:
            return "at"
        first = self.tokens[self.aux].low if self.aux >= 0 else ""
        past = first in ("did", "was", "were", "had") or (
            self.aux < 0 and any(t.tag == "VBD" for t in self.tokens[self.head : self.head + 2])
        )
        return "past" if past else "now"

    def _many(self) -> bool:
        if re.search(r"\b(?:list|all|both)\b|\bnames of\b", self.text, re.I):
            return True
        phrase = self.tokens[self.at + 1 : self.head] if self.at >= 0 else ()
        plural = any(t.tag in ("NNS", "NNPS") for t in phrase[-1:]) and self.tokens[self.at].low != "how"
        being = self.aux >= 0 and self.tokens[self.aux].low in ("are", "were") and any(
            t.tag == "NNS" for t in self.tokens[self.aux : self.aux + 5]
        )  # fmt: skip
        return plural or being


_SKIPPED = frozenset({"DT", "PRP$", "JJ", "RB", "NNP", "POS", ".", ","})
_WEAK = frozenset(
    "be do have get go make take use want need give put keep see find know come bring start like love enjoy"
    " play".split()
)
_CUT_OFF = frozenset("n't nt ca wo sha n’t".split())
"""What "can't" and "won't" are cut into: neither says anything of its own."""
_LIGHT = frozenset("be do have get go make take will can".split())


def _is_name(token: Token, at: int) -> bool:
    if token.tag in ("NNP", "NNPS") and token.text[:1].isupper():
        return at > 0 or not is_idle(token.low)
    return at > 0 and token.text[:1].isupper() and not is_idle(token.low) and token.low not in WH


def _joined(run: Sequence[Token]) -> str:
    said = ""
    for i, token in enumerate(run):
        said += token.text if i == 0 or run[i - 1].end == token.begin else f" {token.text}"
    return said
