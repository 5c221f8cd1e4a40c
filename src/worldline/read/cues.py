"""A question's words: what they ask for, what else says the same, whom they name, and the lanes that look for them.

Terms, people, time and kind of answer are read from the surface; such cues are features of the score and never shut
out a lane or a candidate. Other words meet them by tables that are data (`lexicon/thesaurus.txt`,
`everyday_words.txt`, `families.toml`, `kinds.txt`, `idioms.txt`) and know nothing of any store: words of one idea,
relation or kind, or made from one another. Names are the longest known ones, by position.

>>> asked = ask("When did Ana buy the red bike?", people=("Ana", "Ben"))
>>> asked.terms, asked.people, asked.wants & TIME != 0
(('buy', 'red', 'bike'), ('ana',), True)
>>> relatives("hobbi")["swim"], derived("weigh", " the weight of wine ")
(0.6, {'weight': 0.85})

A lane returns nodes, best first, and only such as the view may see; it does not weigh them against
another lane's, and returns None where a question is not for it. Words come from their index, vectors from
the in-memory index, profiles and worlds from what sleep keeps. All obey time, scope and world, because
every id passes through the view before it leaves the lane. What sleep keeps is of today, so a look at
another moment does without it: its answer is the same whatever the nights since have made.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct

from worldline.dates import find_dates
from worldline.lexicon import ALIKE, KIND, STANDING, asked_kinds, lines, of_kind, text, told
from worldline.ports import Vectors, View
from worldline.reading.claim import stem
from worldline.reading.families import families
from worldline.rules.describe import CLOCK, DATE, DURATION, MONEY, NAME, NUMBER, PERCENT, QUOTED, TIME
from worldline.store import people, search
from worldline.store.search import SearchGround
from worldline.store.words import All, Either, Match, any_of
from worldline.text import fold, stop, word_set, words

if TYPE_CHECKING:
    from worldline.store.held import Floats


class Asked(msgspec.Struct, frozen=True):
    """A question as scoring sees it; ``wants`` and ``strict`` are flags of described texts."""

    text: str
    terms: tuple[str, ...]
    kinds: tuple[tuple[str, ...], ...]
    people: tuple[str, ...]
    windows: tuple[tuple[int, int], ...]
    wants: int
    strict: int
    to_assistant: bool
    advice: bool
    several: bool
    summary: bool
    asked_at: int | None
    order: bool = False
    """Whether it asks in which order things came up."""
    why: bool = False
    """Whether it asks for a cause."""

    @property
    def broad(self) -> bool:
        """Whether it asks for the course of something rather than for a detail of it."""
        return (self.summary or self.order) and not self.advice


_WHY = re.compile(
    r"\bwhy\b|\bhow come\b|\breasons?\b|\bwhat(?:'s| is| was)? (?:made|caused|led|drove|motivat\w+|inspir\w+|"
    r"prompt\w+|the cause)\b|\b(?:because of|due to) what\b|为什么|为何|原因",
    re.I,
)
_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:day|month|year))\b|什么时候|几点|哪天|日期|时间",
    re.I,
)
_COUNT = re.compile(
    r"\bhow (?:many|much|old|long|far|often|tall|big)\b|\b(?:number|total|amount|average|"
    r"percentage) of\b|几|多少|多大|多久|多长",
    re.I,
)
_WHO = re.compile(
    r"\b(?:who|whom|whose|where|which|what (?:is|was|are|were) the (?:name|title)|what (?:city|"
    r"country|place|book|movie|film|song|game|band|company|brand|store|restaurant|school|show)|"
    r"named|called)\b|谁|哪里|哪儿|叫什么",
    re.I,
)
_STRICT = (
    (
        MONEY,
        re.compile(r"\bhow much\b|\bprice|\bcost|\bspen[dt]|\bsalary|\bbudget|\bpaid|\bmoney", re.I),
    ),
    (
        DURATION,
        re.compile(r"\bhow long\b|\bhow many (?:minutes|hours|days|weeks|months|years)\b|多久|多长", re.I),
    ),
    (CLOCK, re.compile(r"\bwhat time\b|\bo'clock\b|几点", re.I)),
    (PERCENT, re.compile(r"\bpercent|\bpercentage|\brate\b|\bdiscount", re.I)),
    (
        DATE,
        re.compile(
            r"\bwhen\b|\bwhat (?:date|day|month|year)\b|\bwhich (?:day|month|year)\b|\bdeadline",
            re.I,
        ),
    ),
    (
        QUOTED,
        re.compile(r"\b(?:book|movie|film|song|title|album|show|series|podcast|game|novel|play)\b", re.I),
    ),
    (
        NAME,
        re.compile(
            r"\b(?:who|whom|whose|where)\b|\bname\b|\b(?:city|country|state|brand|company|store|"
            r"restaurant|school|band|artist|author)\b",
            re.I,
        ),
    ),
    (NUMBER, re.compile(r"\bhow (?:many|old|far|often)\b|\bnumber of\b|几|多少", re.I)),
)
_TO_ASSISTANT = re.compile(
    r"(?<!can )(?<!could )(?<!would )(?<!will )(?<!do )\byou (?:\w+ ){0,2}(?:told|said|recommend\w*|"
    r"suggest\w*|mention\w*|"
    r"gave|give|provid\w*|list\w*|explain\w*|describ\w*|advis\w*|propos\w*|shar\w*|wrote|walk\w*|"
    r"outlin\w*|help\w*)\b|"
    r"\b(?:did you|have you|were you|"
    r"your (?:previous|last|earlier|recommendation|suggestion|advice|explanation|answer|response)|"
    r"(?:our|the) (?:last|previous|earlier|past) (?:chat|conversation|discussion|session)|"
    r"we (?:discussed|talked|chatted|went over)|remind me)\b",
    re.I,
)
_ADVICE = re.compile(
    r"\b(?:(?:can|could|would|will) you|(?:any|some) (?:\w+ )?(?:tips|advice|suggestions|ideas|"
    r"recommendations|books|ways)|"
    r"what(?:'s| is| are)? (?:the best|some|should|would|could|kind of)|how (?:can|do|should|would|"
    r"could|might) (?:i|you|we)|"
    r"recommend|suggest|should i|what's the best|help me|show me|"
    r"i'm (?:planning|looking|trying|thinking|working|setting|considering|going))\b",
    re.I,
)
_PAST = re.compile(
    r"\b(?:did|was|were|had|have i|has|remind|summar\w+|order|told|said|mentioned|discussed|list|last)\b",
    re.I,
)
_SEVERAL = re.compile(
    r"\bhow many\b|\bwhich \w+s\b|\bwhat (?:\w+ ){0,2}(?-i:[a-z]+s) (?:has|have|did|does|do|are|were|is)\b|"
    r"\blist\b|\ball (?:the|of)\b|"
    r"\bwhat (?:\w+ )?(?:has|have) \w+\b|\border\b|\bsummar|\btotal\b|\bin what ways\b|\bactivities\b|"
    r"\bprogress|\bover time\b|\bthroughout\b|\bcompare|\bboth\b|\btimeline\b|哪些|几个|所有|分别|总共",
    re.I,
)


_SUMMARY = re.compile(r"\b(?:summar\w+|overview|recap|comprehensive|walk me through)\b|总结|概括", re.I)
_ORDER = re.compile(
    r"\b(?:(?:the|what|which|chronological) order (?:in which|of|that|i|we)|in (?:\w+ )?order\b(?! to\b)|"
    r"chronolog\w+|timeline of|sequence of)\b|先后顺序|时间顺序",
    re.I,
)
_ONLY = re.compile(r"\b(?:mention|list|name) only\b.*", re.I | re.S)
"""How many are wanted is no part of what is asked for."""
_NOW = re.compile(
    r"\b(?:at (?:the|this) (?:moment|present|time)|at present|(?:in|on) (?:these|those) days|these days|nowadays|"
    r"right now|(?:as of|by|until|up to) now|now|currently|presently|so far|to date|for the time being)\b",
    re.I,
)
"""Which moment is meant is no part of it either: who writes "at the moment" says nothing about rent."""
# Words that speak about the asking or the conversation, not about what was said in it.
_META_WORDS = (
    "summary summarize summarise comprehensive complete overview recap order list aspect different "
    "various throughout across conversation conversations discussion chat session mention bring brought "
    "item only walk give provide remind recall previous previously earlier discuss far key include "
    "specific specifically regarding related topic"
)


def ask(question: str, asked_at: int | None = None, people: Iterable[str] = ()) -> Asked:
    """Read a question's cues; ``people`` are the names of known speakers."""
    named = _named(question, people)
    order, text = bool(_ORDER.search(question)), question
    question = _ONLY.sub("", question) or question
    own = {token for name in named for token in words(name)}
    said = _NOW.sub(" ", question)
    found = dict.fromkeys(_plainly(said)) or dict.fromkeys(words(question))
    terms = [t for t in found if t not in _meta()] or list(found)
    strict = sum(bit for bit, pattern in _STRICT if pattern.search(question))
    kept = tuple(t for t in terms if t not in own) or tuple(terms)
    return Asked(
        text=text,
        terms=kept,
        kinds=tuple(asked_kinds(t) for t in kept),
        people=named,
        windows=_windows(question, asked_at),
        wants=_wants(question),
        strict=strict,
        to_assistant=bool(_TO_ASSISTANT.search(question)),
        advice=bool(_ADVICE.search(question)) and not _PAST.search(question),
        summary=bool(_SUMMARY.search(question)) and not order,
        several=bool(_SEVERAL.search(question)),
        asked_at=asked_at,
        order=order,
        why=bool(_WHY.search(question)),
    )


def _plainly(said: str) -> list[str]:
    """The stems of a question that say something, where what is said in a figure is said plainly."""
    spoken, found, at = words(said), list[str](), 0
    for begin, end, plain in (*idioms(spoken), (len(spoken), len(spoken), ())):
        found += [*(stem for stem in spoken[at:begin] if stem not in stop()), *plain[:1]]
        at = end
    return found


@cache
def _meta() -> frozenset[str]:
    return frozenset(words(_META_WORDS))


def _wants(question: str) -> int:
    return (
        (TIME if _WHEN.search(question) else 0)
        | (NUMBER if _COUNT.search(question) else 0)
        | (NAME if _WHO.search(question) else 0)
    )


def first_names(question: str) -> frozenset[str]:
    """The words of a question that may name a speaker; folded."""
    return frozenset(fold(question.replace("'s", " ").replace("’s", " ")).split())


def _named(question: str, people: Iterable[str]) -> tuple[str, ...]:
    """Known speakers whose name, or first name, is in the question; folded."""
    asked = first_names(question)
    keys = dict.fromkeys(fold(name) for name in people)
    return tuple(key for key in keys if key and key.split()[0] in asked)


def _windows(question: str, asked_at: int | None) -> tuple[tuple[int, int], ...]:
    base = datetime.fromtimestamp((asked_at or 0) / 1e6, UTC)
    spans = find_dates(question, base)
    return tuple((s.start, s.end) for s in spans if asked_at is not None or s.start > 0)


# Everyday words for the same relation ----------------------------------------------------------------


GROUPS = """
spouse wife husband partner married marry marriage wed consort
child son daughter offspring kid
parent mother father mom dad
sibling brother sister
born birth birthplace birthday native
die died death deceased deathplace
occupation profession job work career employment field trade vocation
employer employ employed employee works workplace
work worked workplace
citizen citizenship national nationality
country nation homeland land
city town municipality metropolis
continent landmass
capital seat
language tongue speak spoken speaks
religion faith belief denomination church creed religious believe worship follow
founder found founded establish established start started set formed
founder creator create created creation
author write wrote written writer novelist
perform performed performer singer sing sang artist portray actor play
create creator created make maker inventor invent design originate origin
develop developer developed software
produce produced producer manufacturer manufacture maker made build
director direct directed manage manager run head
chairperson chair chairman chairwoman president
ceo chief executive
head leader ruler chief
coach trainer manager
headquarters headquartered headquarter base based seat office
broadcast broadcaster broadcasted network air aired channel
educated education study studied school university alma college attend attended student graduate
university college school institution
famous known notable renowned fame masterpiece
sport game discipline athletics
position role plays specialty speciality
music genre musical style
located location situated place lie
location place city
own owner owned belongs possess
member belong membership part
live lives living reside residence home address
affiliated affiliation associated association
"""
PHRASES = {
    r"pass(?:ed|es)? away": "die",
    r"breathed? (?:his|her|their) last": "die",
    r"significant other": "spouse",
    r"better half": "spouse",
    r"(?:seat|cent(?:er|re)) of government": "capital",
    r"head(?:s)? of state|chief(?:s)? of state": "head of state",
    r"\bCEO\b": "chief executive officer",
    r"mother tongue": "language",
    r"alma mater": "university",
    r"make(?:s)? a living": "occupation",
    r"come(?:s)? (?:from|into existence)|came from|hail(?:s|ed)? from|gave rise to": "origin",
}

_GROUPS_OF: dict[str, set[int]] = {}
for _number, _line in enumerate(GROUPS.strip().splitlines()):
    for _word in _line.split():
        _GROUPS_OF.setdefault(stem(_word), set()).add(_number)
_REWRITES = [(re.compile(pattern), word) for pattern, word in PHRASES.items()]
_NONE: frozenset[int] = frozenset()


def same_idea(a: str, b: str) -> bool:
    """Whether two stems stand in one group."""
    return not _GROUPS_OF.get(a, _NONE).isdisjoint(_GROUPS_OF.get(b, _NONE))


def alike(word: str) -> list[str]:
    """The stems that stand in a group with this one."""
    return [other for other in _GROUPS_OF if same_idea(word, other)] if word in _GROUPS_OF else []


def plain(question: str) -> str:
    """The question with set phrases rewritten to single words."""
    for pattern, word in _REWRITES:
        question = pattern.sub(word, question)
    return question


# Words that meet though they are not the same --------------------------------------------------------


FAMILY = 0.5
"""How far a word of the same relation meets another."""
MOST_FAMILIES = 9
"""A word of more relation families than this says too little to meet another."""

Table: TypeAlias = tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]
"""A word → its groups, and a group → its words."""


@lru_cache(maxsize=20_000)
def relatives(stem: str) -> Mapping[str, float]:
    """The stems that meet this one though they are others, and how far: of its idea, its relation, its kind."""
    found: dict[str, float] = {}
    for tag in asked_kinds(stem):
        found |= dict.fromkeys(of_kind(tag), KIND)
    families_of, members = _family_table()
    for family in families_of.get(stem, ()):
        found |= {other: max(FAMILY, found.get(other, 0.0)) for other in members[family]}
    found |= {other: max(degree, found.get(other, 0.0)) for other, degree in told(stem).items()}
    groups_of, groups = _everyday_table()
    for group in groups_of.get(stem, ()):
        found |= dict.fromkeys(groups[group], ALIKE)
    return found


def meeting(stem: str, tokens: set[str]) -> dict[str, float]:
    """Those of a text's stems that are relatives of this one, and how far they meet it."""
    kin = relatives(stem)
    return {token: kin[token] for token in kin.keys() & tokens} if kin else {}


def derived(stem: str, said: str) -> dict[str, float]:
    """The stems of a text (with blanks around each) that are made from this one, or it from them: weigh, weight."""
    found: dict[str, float] = {}
    root = " " + stem[:4]
    at = said.find(root) if len(stem) >= 4 else -1
    while at >= 0:
        end = said.find(" ", at + 1)
        token = said[at + 1 : end]
        if abs(len(stem) - len(token)) <= 3 and (token.startswith(stem) or stem.startswith(token)):
            found[token] = ALIKE
        at = said.find(root, end)
    return found


def idioms(said: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where a question speaks in a figure, from and up to which stem, and the plain stems that it stands for.

    >>> list(idioms(["who", "be", "behind", "the", "wheel"]))
    [(2, 5, ('drive', 'driver', 'steer'))]
    """
    at = 0
    while at < len(said):
        fits = ((phrase, plain) for phrase, plain in _idioms().get(said[at], ()) if _is_at(phrase, said, at))
        phrase, plain = next(fits, ((), ()))
        if phrase:
            yield at, at + len(phrase), plain
        at += len(phrase) or 1


def _is_at(phrase: Sequence[str], said: Sequence[str], at: int) -> bool:
    return tuple(said[at : at + len(phrase)]) == phrase


@cache
def _idioms() -> Mapping[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The first stem of a phrase → the phrases that begin so, the longest first, and what each stands for."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in lines("idioms.txt"):
        phrase, _, plain = line.partition(":")
        stems = tuple(words(phrase))
        found.setdefault(stems[0], []).append((stems, tuple(dict.fromkeys(words(plain)))))
    for phrases in found.values():
        phrases.sort(key=lambda one: -len(one[0]))
    return found


@lru_cache(maxsize=20_000)
def is_everyday(word: str) -> bool:
    """Whether the thesaurus has a word, or what it is made from: what a sentence begins with may be a name."""
    root = next(iter(words(word)), word).rstrip("ei")
    table, at = _thesaurus_words(), bisect_left(_thesaurus_words(), root)
    return len(root) < 3 or (at < len(table) and table[at].startswith(root))


@cache
def _thesaurus_words() -> Sequence[str]:
    """In the order of their letters, so that what begins with a root is found by halves."""
    return sorted(set(text("thesaurus.txt").split()))


@cache
def _everyday_table() -> Table:
    groups = {
        str(at): words(line) for at, line in enumerate([*lines("everyday_words.txt"), *GROUPS.split("\n")])
    }
    return _both_ways((stem, group) for group, members in groups.items() for stem in members)


@cache
def _family_table() -> Table:
    """The relation families whose nouns or verbs a word is; words of too many families left out."""
    pairs = [(words(said)[-1:], name) for name, f in families().all.items() for said in (*f.nouns, *f.words)]
    pairs += [(words(verb)[:1], p.family.name) for verb, ps in families().patterns.items() for p in ps]
    named = [(stem[0], family) for stem, family in pairs if stem and stem[0] not in stop()]
    often = Counter(stem for stem, _ in set(named))
    return _both_ways((stem, family) for stem, family in named if often[stem] <= MOST_FAMILIES)


def _both_ways(pairs: Iterable[tuple[str, str]]) -> Table:
    there: dict[str, dict[str, None]] = {}
    back: dict[str, dict[str, None]] = {}
    for one, group in pairs:
        there.setdefault(one, {})[group] = None
        back.setdefault(group, {})[one] = None
    return {key: tuple(all_) for key, all_ in there.items()}, {key: tuple(all_) for key, all_ in back.items()}


@lru_cache(maxsize=2_000)
def nearest(word: str, said: frozenset[str]) -> float:
    """How near a word of the question comes to any of a sentence; many candidates share one."""
    if word in said:
        return 1.0
    kin, root, alike = kin_of(word), word[:4], list[float]()
    if len(root) == 4 and f" {root}" in _side_by_side(said):
        alike = [_spelt(word, other) for other in said if other.startswith(root)]
    return max([0.0, *alike, *map(kin.__getitem__, kin.keys() & said)])


@lru_cache(maxsize=2_000)
def _side_by_side(said: frozenset[str]) -> str:
    """The stems of a sentence with a blank before each: what begins with a root is seen in one look."""
    return f" {' '.join(said)}"


def _spelt(a: str, b: str) -> float:
    """How near two stems are by their letters."""
    short, long = sorted((a, b), key=len)
    if len(short) >= 4 and long.startswith(short):
        return 0.9
    common = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(short))
    return 0.8 if common >= 5 and common >= len(long) - 4 else 0.0


@lru_cache(maxsize=1_000)
def kin_of(word: str) -> Mapping[str, float]:
    """The stems that are near to this one in meaning, as far as groups, families and kinds tell."""
    found = {other: 0.6 for tag in asked_kinds(word) for other in of_kind(tag)}
    for table, degree in ((_ideas(), 0.6), (_near_words(), 0.7)):
        own = table.get(word)
        if own:
            found |= {other: degree for other, groups in table.items() if not own.isdisjoint(groups)}
    return found | dict.fromkeys(alike(word), 0.7)


@cache
def _near_words() -> dict[str, frozenset[int]]:
    """Stems and the groups of near words that they stand in."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines("near_words.txt")):
        for word in line.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(groups) for word, groups in found.items()}


MOST_IDEAS = 6
"""A word that speaks of more families than this means none of them."""


@cache
def _ideas() -> dict[str, frozenset[str]]:
    """Stems and the families that they speak of."""
    found: dict[str, set[str]] = {}
    for family in families().all.values():
        for said in (*family.states, *family.begins, *family.nouns, *family.asks, *family.kinds):
            for word in said.lower().split():
                if len(word) > 2 and stem(word) not in stop():
                    found.setdefault(stem(word), set()).add(family.name)
    return {word: frozenset(names) for word, names in found.items() if len(names) <= MOST_IDEAS}


# Which known entities a question names ---------------------------------------------------------------


_TOKEN = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*\.?|\"|“|”")
_WORD = re.compile(r"[^\W_]+")
MAX_NAME = 9
ASKING = word_set(
    "what which who whom whose where when why how is are was were be been being am do does "
    "did has have had can could will would should may might must the a an of in on at to for "
    "from by with as about into and or that this these those it its his her their he she they "
    "them him my your our name named person individual someone people current currently known "
    "called associated related one does there also besides belong belongs belonging belonged "
    "there s t"
)


class Mention(msgspec.Struct, frozen=True):
    """A known entity in the question: where, and how strong the match is."""

    entity: str
    begin: int
    end: int
    weight: float


class Word(msgspec.Struct, frozen=True):
    """A content word and its place in the question."""

    text: str
    stem: str
    place: int


class PlannedQuestion(msgspec.Struct, frozen=True):
    """What the walk needs to know of a question."""

    text: str
    masked: str  # with the strongest mention replaced by X
    mentions: tuple[Mention, ...]
    words: tuple[Word, ...]
    places: tuple[int, ...]  # of the mentions, in words


Linker = Callable[[Collection[str]], dict[str, str]]


def read_question(text: str, link: Linker) -> PlannedQuestion:
    """Mentions, strongest first, and the content words outside the strongest one."""
    tokens = [(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(text) if m.group() not in '"“”']
    mentions = _mentions(text, tokens, link)
    inside = mentions[0] if mentions else None
    words, places = [], []
    for begin, _, token in tokens:
        if inside and inside.begin <= begin < inside.end:
            continue
        words += [
            Word(w.lower(), stem(w.lower()), begin)
            for w in _WORD.findall(re.sub(r"[’']s\b", "", token))
            if w.lower() not in ASKING
        ]
    for mention in mentions:
        places.append(mention.begin)
    masked = text[: inside.begin] + "X" + text[inside.end :] if inside else text
    return PlannedQuestion(text, masked.replace('"', ""), tuple(mentions), tuple(words), tuple(places))


def _mentions(text: str, tokens: list[tuple[int, int, str]], link: Linker) -> list[Mention]:
    """Longest known names that do not overlap, by weight."""
    spans: dict[tuple[int, int], list[str]] = {}
    for i in range(len(tokens)):
        for j in range(i + 1, min(len(tokens), i + MAX_NAME) + 1):
            begin, end = tokens[i][0], tokens[j - 1][1]
            spans[begin, end] = _spellings(text[begin:end])
    known = link({name for names in spans.values() for name in names})
    found = []
    for (begin, end), names in spans.items():
        entity = next((known[n] for n in names if n in known), None)
        if entity is not None:
            found.append(Mention(entity, begin, end, _weight(text, begin, end)))
    found.sort(key=lambda m: (-m.weight, m.begin))
    kept: list[Mention] = []
    for mention in found:
        if mention.weight > 0 and not any(k.begin < mention.end and mention.begin < k.end for k in kept):
            kept.append(mention)
    return kept


def _spellings(text: str) -> list[str]:
    bare = re.sub(r"[’']s?$", "", text)
    names = [fold(text), fold(bare)]
    if names[0].startswith("the "):
        names += [names[0][4:]]
    return [n for n in dict.fromkeys(names) if n]


def _weight(text: str, begin: int, end: int) -> float:
    """Words + capitals + quotation marks; a plain common word weighs nothing."""
    words = text[begin:end].split()
    capitals = sum(w[0].isupper() or w[0].isdigit() for w in words)
    quoted = begin > 0 and text[begin - 1] in "\"“'‘" and text[end : end + 1] in "\"”'’"
    if not capitals and not quoted:
        return 0.3 * len(words) if words[0].lower() not in ASKING else 0.0
    if begin == 0 and len(words) == 1:
        return 0.0
    if words[0].lower() in ASKING and not quoted and words[0][0].islower():
        return len(words) + 1.5 * capitals - 1.0
    return len(words) + 1.5 * capitals + 2 * quoted


# The lanes: each looks for candidates its own way ----------------------------------------------------


DEPTH, INSTRUCTIONS, LANDMARKS = 100, 30, 20
_MANY, _FEW = 200_000, 1_500
"""Above so many matching texts, common terms only count together with another one."""
_BESIDE = 3
_MORE = 10
"""Of so many more finds than are wanted it is asked at first whether they may be seen."""
WORLDS, EACH = 8, 10
"""So many of the nearest worlds are looked into, and so many texts of each are brought."""
_ROOM = 1000
"""So many texts are looked at for that."""
_DEEPER = 8
"""So many times as many worlds, where only those inside one world count."""
TOPICS, TURNS = 24, 400
"""So many topics are looked at, and so many turns of theirs."""


class Semantic(Struct, frozen=True):
    """The question as a vector, who made it, and the index to look it up in."""

    query: Floats
    identity: str
    index: Vectors


class Look(Struct, frozen=True):
    """What every lane is given."""

    view: View
    asked: Asked
    ground: SearchGround
    frequency: Mapping[str, int]
    semantic: Semantic | None
    near: Mapping[int, float]
    """How near each world is to the question, where sleep has composed them."""


# Words -----------------------------------------------------------------------------------------------


def with_words(
    view: View, asked: Asked, ground: SearchGround, frequency: Mapping[str, int], depth: int | None = DEPTH
) -> list[int]:
    """Nodes that hold the question's words, or are of the kinds it asks for, by BM25."""
    terms, kinds = asked.terms, [tag for tags in asked.kinds for tag in tags]
    if not terms:
        return []
    reach = {token: int(frequency.get(token, 0) * ground.share) for token in (*terms, *kinds)}
    if depth is not None and sum(reach.values()) > _MANY:
        found = search.search_words(view, _narrow(terms, reach), ground.owners, depth)
        if len(found) >= depth:
            return found
        kinds = []
    return search.search_words(view, any_of(terms, kinds), ground.owners, depth)


def _narrow(terms: Sequence[str], reach: dict[str, int]) -> Match:
    """Texts with a rare term, or with one of the two next ones beside another of the rarest."""
    ordered, room = sorted(terms, key=lambda term: (reach[term], term)), _FEW
    rare: list[str] = []
    for term in ordered:
        room -= reach[term]
        if room < 0:
            break
        rare.append(term)
    parts: list[Match] = list(rare)
    for term in ordered[len(rare) : len(rare) + 2]:
        others = [other for other in ordered if other != term][:_BESIDE]
        parts.append(All((term, any_of(others))) if others else term)
    return Either(tuple(parts))


def standing(view: View, ground: SearchGround) -> list[int]:
    """The texts in which somebody said what is to hold from then on."""
    return search.search_words(view, any_of((), [STANDING]), ground.owners, INSTRUCTIONS)


# Meaning ---------------------------------------------------------------------------------------------


def vectors(
    view: View, index: Vectors, query: Floats, ground: SearchGround, depth: int | None = DEPTH
) -> dict[int, float]:
    """Nodes near the question in meaning, with their cosines, nearest first."""
    scopes = ground.scopes if view.owned else None
    inside = search.nodes_inside(view) if view.world else None
    reach = depth + depth // 2 if depth else 1 << 30
    while True:
        near = index.search(view, query, reach, ground.newest, scopes=scopes, nodes=inside)
        kept = _seen_first(view, near, depth)
        if depth is None or len(kept) >= depth or len(near) < reach:
            return dict(list(kept.items())[:depth])
        reach *= 4


def _seen_first(view: View, near: Sequence[tuple[int, float]], depth: int | None) -> dict[int, float]:
    """The nearest that may be seen, at least so many: most may, so that few more are asked about."""
    step, kept = len(near) if depth is None else depth + _MORE, dict[int, float]()
    for start in range(0, len(near), max(step, 1)):
        some = near[start : start + step]
        seen = search.seen_among(view, [node for node, _ in some])
        kept |= {node: cosine for node, cosine in some if node in seen}
        if depth is not None and len(kept) >= depth:
            break
    return kept


def nearness(view: View, semantic: Semantic | None, ground: SearchGround) -> dict[int, float]:
    """The cosine of every world; nothing where none was composed, or where another moment is looked at."""
    if semantic is None or not ground.worlds or view.whole:
        return {}
    scopes = ground.scopes if view.owned else None
    found: dict[int, float] = semantic.index.worlds.cosines(view, semantic.query, ground.worlds, scopes)
    return found


def _by_worlds(look: Look) -> list[int] | None:
    """The best texts of the sessions, topics and projects nearest to the question, best first."""
    if look.semantic is None or not look.near:
        return None
    view, near = look.view, look.near
    if view.owned:
        view = view.bind(only=look.ground.scopes)  # the same scope sets, without looking for them again
    reach = WORLDS * (_DEEPER if view.world else 1)
    best = sorted(near, key=lambda world: (-near[world], world))[:reach]
    inside = search.inside_worlds(view, best, _ROOM)
    cosines = look.semantic.index.cosines(view, look.semantic.query, [node for _, node in inside])
    ordered = sorted(
        ((near[world] + cosines[node], node, world) for world, node in inside if node in cosines),
        key=lambda one: (-one[0], one[1]),
    )
    taken: dict[int, int] = {}
    found: list[int] = []
    for _, node, world in ordered:
        taken[world] = taken.get(world, 0) + 1
        if taken[world] <= EACH:
            found.append(node)
    return list(dict.fromkeys(found))


# People ----------------------------------------------------------------------------------------------

_ASKED = {
    "job": "job work career hire promote retire company business store shop startup fire quit internship position "
    "role employ employer promotion occupation profession",
    "move": "move relocate live home apartment emigrate hometown",
    "health": "ill sick injury injure hurt hospital surgery diagnose disease health recover break ankle leg doctor",
    "birth": "baby birth born pregnant child parent mother father adopt adoption son daughter twin kid",
    "marriage": "marry wedding engage engagement divorce propose date boyfriend girlfriend husband wife partner",
    "graduation": "graduate graduation degree college university school exam study certificate diploma license",
    "loss": "die death lose funeral pass grief mourn",
    "mishap": "accident crash rob arrest incident",
    "achievement": "win award prize medal tournament race marathon record publish novel competition achieve trophy",
    "identity": "gay lesbian transgender transition citizen baptize convert identity religion",
    "purchase": "buy purchase car house sell vehicle truck",
    "pet": "pet dog cat puppy kitten animal adopt",
    "travel": "travel trip visit vacation country fly tour abroad road holiday hike camp city",
    "beginning": "start join begin class club group hobby sign launch found blog course create organization community",
    "event": "attend event party concert festival conference parade wedding host show competition tournament perform "
    "celebrate exhibit workshop retreat fundraiser race gig",
}


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    """Token of a question → the kinds of landmarks it may be about."""
    found: dict[str, set[str]] = {}
    for kind, listed in _ASKED.items():
        for token in words(listed):
            found.setdefault(token, set()).add(kind)
    return {token: frozenset(kinds) for token, kinds in found.items()}


def asked_for(terms: Sequence[str]) -> frozenset[str]:
    """The kinds of landmarks that the terms of a question speak of."""
    return frozenset(kind for term in terms for kind in _kinds().get(term, ()))


def _by_profiles(look: Look) -> list[int] | None:
    """Turns that tell a landmark of the kind asked for, of the people asked about, weightiest first."""
    asked = look.asked
    if not asked.people or not look.ground.profiles or look.view.cold:
        return None
    kinds = asked_for(asked.terms)
    return people.landmarks_of(look.view, asked.people, kinds, 2 * LANDMARKS)[:LANDMARKS] if kinds else []


def _by_words(look: Look) -> list[int]:
    return with_words(look.view, look.asked, look.ground, look.frequency)


def _by_vectors(look: Look) -> list[int] | None:
    meant = look.semantic
    return None if meant is None else list(vectors(look.view, meant.index, meant.query, look.ground))


def _by_standing(look: Look) -> list[int] | None:
    return standing(look.view, look.ground) if look.asked.advice else None


LANES: Mapping[str, Callable[[Look], list[int] | None]] = {
    "words": _by_words,
    "vectors": _by_vectors,
    "standing": _by_standing,
    "worlds": _by_worlds,
    "profile": _by_profiles,
}


# Topics ----------------------------------------------------------------------------------------------


class Course(Struct, frozen=True):
    """The topics that the pool has part in, and what summaries cite of it."""

    topics: Mapping[int, Sequence[int]] = {}
    """The turns of each topic, by lineage."""
    cited: frozenset[int] = frozenset()

    @property
    def turns(self) -> list[int]:
        """All turns of these topics, those of the best topic first."""
        return list(dict.fromkeys(turn for turns in self.topics.values() for turn in turns))


def course(view: View, nodes: Sequence[int]) -> Course:
    """The topics of these turns, given best first, with all that belongs to them.

    A broad question is about a course of things: the topics of what was found bring their other turns.
    """
    topics: dict[int, list[int]] = {}
    cited: set[int] = set()
    for topic, node in search.in_topics(view, nodes, TOPICS, TURNS):
        if topic:
            topics.setdefault(topic, []).append(node)
        else:
            cited.add(node)
    return Course(topics, frozenset(cited))
