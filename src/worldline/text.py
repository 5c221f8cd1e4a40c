"""One tokeniser for every store: words, folded names, token estimates and passages.

It decides what counts as a word and when two words are the same (case, accents, inflection,
number format).  It does not decide which words matter; ranking does.  Every token is one run of
letters or digits, so that ``" ".join(words(text))`` can be split again, and be read by any SQLite tool.

>>> words("Ana's cafés cost 1,200 euros")
['ana', 'cafe', 'cost', '1200', 'euro']
>>> words("我喜欢游泳")
['我喜', '喜欢', '欢游', '游泳']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

MAX_TOKEN = 64
MAX_CACHED = 200_000
PASSAGE = 1200

# Scripts written without spaces between words: indexed as overlapping pairs of characters.
_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Vowel signs and other marks that Python's \w leaves out, but that belong to a word.
_MARKS = (
    "\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc"
)
_WORD = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![^\W_])|\d+\.\d+(?![^\W_])"
    rf"|[{_UNSPACED}]+"
    rf"|[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{_MARKS}]|['’](?=[^\W_]))*"
)
_ASCII_WORD = re.compile(
    r"[A-Za-z][A-Za-z0-9']*"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![A-Za-z0-9])|\d+\.\d+(?![A-Za-z0-9])|\d[A-Za-z0-9']*"
)
_INSIDE_NUMBER = re.compile(r"\d[.,]\d")
_LETTERS = {code: chr(code) if chr(code).isalnum() else " " for code in range(128)}
"""Where no sign stands inside a word, words are what lies between signs; that is found sooner."""
_CJK = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_NAME_LENGTH = 120
"""Names are looked up over and over; what is longer is no name."""
_NAMES = 16_384
_NAME_DROP = re.compile(r"['’`´.]+")
_NAME_GAP = re.compile(r"[\W_]+")
# In names some signs distinguish: 3.5 is not 35, .NET not Net, C++ and C# not C.
_SIGNED = re.compile(r"[+#]|(?<=\d)\.(?=\d)|(?<!\S)\.(?=[^\W\d_])")
_SIGNED_DROP = re.compile(r"((?<=\d)\.(?=\d)|(?<!\S)\.(?=[^\W\d_]))|['’`´.]")
_SIGNED_GAP = re.compile(r"((?<=[^\W_])(?:\+\+?|#)(?![\w+#]))|[^\w.]|_")

_TO_TWENTY = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {w: str(n) for n, w in enumerate(_TO_TWENTY.split(), 2)} | {
    w: str(10 * n) for n, w in enumerate(_TENS.split(), 3)
}

# Inflected forms that a suffix stemmer cannot join: base form first.
_IRREGULAR = (
    "go went gone|buy bought|bring brought|think thought|teach taught|catch caught|fight fought|"
    "seek sought|see saw seen|eat ate eaten|drink drank drunk|sing sang sung|swim swam swum|"
    "run ran|begin began begun|give gave given|take took taken|get got gotten|forget forgot forgotten|"
    "write wrote written|drive drove driven|ride rode ridden|rise rose risen|speak spoke spoken|"
    "break broke broken|choose chose chosen|wear wore worn|tear tore torn|throw threw thrown|"
    "grow grew grown|know knew known|fly flew flown|draw drew drawn|show shown|make made|"
    "say said|tell told|sell sold|hold held|find found|lose lost|leave left|meet met|feel felt|"
    "keep kept|sleep slept|spend spent|send sent|build built|lend lent|win won|sit sat|stand stood|"
    "understand understood|pay paid|hear heard|become became|come came|do did done|have had has|"
    "be is are was were been am|fall fell fallen|steal stole stolen|wake woke woken|hide hid hidden|"
    "bite bit bitten|shoot shot|lead led|feed fed|read|dig dug|hang hung|stick stuck|strike struck|"
    "teach taught|mean meant|learn learnt|dream dreamt|child children|person people|man men|"
    "woman women|foot feet|tooth teeth|mouse mice|wife wives|life lives|knife knives|"
    "good better best|bad worse worst"
)

_STOP_WORDS = (
    "a an the and or but if so than then as of at by for from in into on onto to with about over "
    "under up down out off again i me my mine myself we us our ours you your yours yourself he him "
    "his she her hers it its they them their theirs this that these those who whom whose which what "
    "when where why how be is are was were been being am do does did doing done have has had having "
    "can could will would shall should may might must not no nor s t d m re ve ll don didn doesn "
    "isn aren wasn weren won wouldn couldn shouldn hasn haven hadn there here just also too very "
    "don't didn't doesn't isn't aren't wasn't weren't won't wouldn't couldn't shouldn't hasn't "
    "haven't hadn't can't i'm i've i'll i'd it's that's you're you've he's she's we're we've they're "
    "what's who's there's let's any some ever because while during between"
)


class _Stems(dict[str, str]):
    """Raw word → its token or tokens, separated by a space; filled on first use."""

    def __init__(self, stem: Callable[[str], str], irregular: dict[str, str]) -> None:
        super().__init__()
        self._stem = stem
        self._irregular = irregular

    def __missing__(self, raw: str) -> str:
        if raw.isascii() and raw.isdigit() and raw[0] != "0" and len(raw) <= MAX_TOKEN:
            return raw
        if _UNSPACED_RUN.match(raw):
            return " ".join(map(_plain, _pairs(raw)))
        token = self._normal(raw)
        if len(raw) <= MAX_TOKEN:
            if len(self) >= MAX_CACHED:
                self.clear()
            self[raw] = token
        return token

    def _normal(self, raw: str) -> str:
        word = raw.casefold().replace("’", "'").rstrip("'")
        if word[0].isdigit():
            return _plain(_number(word))
        word = self._irregular.get(word) or word
        return _plain(_NUMBER_WORDS.get(word) or self._stem(word[:MAX_TOKEN]) or word)


def _number(word: str) -> str:
    """Digits in one spelling: no thousands commas, ordinals or leading zeros."""
    if _ORDINAL.fullmatch(word):
        word = word[:-2]
    word = word.replace(",", "").replace(".", "p").replace("'", "")[:MAX_TOKEN]
    return word.lstrip("0") or "0" if word.isdigit() else word


def _pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; a lone character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=65_536)
def _plain(token: str) -> str:
    """The token with nothing in it that FTS5 would split at; a strange one is spelt in hex."""
    token = token.replace("'", "")
    if token.isascii() and token.isalnum():
        return token
    if token and all(map(_indexable, token)):
        return token
    return "u" + token.encode("utf-8", "surrogatepass").hex()[: MAX_TOKEN - 1]


@cache
def _indexable(char: str) -> bool:
    """Whether FTS5 (Unicode 6.1) is sure to see a letter or digit: Unicode 3.2 already did."""
    return unicodedata.ucd_3_2_0.category(char)[0] in "LN" and char.isalnum()


def is_language(name: str) -> bool:
    """Whether words of this language can be stemmed."""
    if name == "english":
        return True
    import Stemmer

    return name in Stemmer.algorithms()


@cache
def _stems(language: str) -> _Stems:
    import Stemmer

    stemmer = Stemmer.Stemmer(language, 0)
    irregular = {}
    if language == "english":
        for family in _IRREGULAR.split("|"):
            base, *forms = family.split()
            irregular.update(dict.fromkeys(forms, base))
    return _Stems(stemmer.stemWord, irregular)


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", folded)


_Made = TypeVar("_Made")


class _Names(dict[str, _Made]):
    """Name or value → what is made of it, kept: they are asked for again and again, and found without a call."""

    def __init__(self, make: Callable[[str], _Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> _Made:
        made = self._make(text)
        if len(text) < _NAME_LENGTH:
            if len(self) >= _NAMES:
                self.clear()
            self[text] = made
        return made


def words(text: str, language: str = "english") -> list[str]:
    """The tokens of a text, in order: stemmed words, plain numbers, pairs of CJK characters."""
    return list(tokens(text)) if language == "english" else indexed(text, language).split()


def words_of_each(texts: Sequence[str]) -> list[list[str]]:
    """The tokens of each of some English texts."""
    return [indexed(text).split() for text in texts]


def indexed(text: str, language: str = "english") -> str:
    """The same tokens as one text, separated by spaces: what the words index holds."""
    if text.isascii():
        signs = "'" in text or (("." in text or "," in text) and _INSIDE_NUMBER.search(text))
        found = _ASCII_WORD.findall(text) if signs else text.translate(_LETTERS).split()
    else:
        found = _WORD.findall(_unaccented(text))
    return " ".join(map(_stems(language).__getitem__, found))


_CUT: _Names[tuple[str, ...]] = _Names(lambda text: tuple(indexed(text).split()))
tokens = _CUT.__getitem__
"""The words of an English text, as `words` finds them, for those who only read them."""


@cache
def stop(language: str = "english") -> frozenset[str]:
    """The tokens that carry no content in the language (none known outside English)."""
    if language != "english":
        return frozenset()
    return frozenset(token for word in _STOP_WORDS.split() for token in words(word))


def content_words(text: str, language: str = "english") -> list[str]:
    """The tokens of a text without stop words; empty where it has nothing else."""
    dull = stop(language)
    return [token for token in words(text, language) if token not in dull]


def _fold(name: str) -> str:
    if name.isascii() and name.replace(" ", "a").isalnum():  # nothing in it but letters, digits and blanks
        return " ".join(name.lower().split())
    plain = _unaccented(_unaccented(name).casefold())
    if not _SIGNED.search(plain):
        return _joined(_NAME_DROP.sub("", plain))
    plain = _SIGNED_DROP.sub(_kept_or(""), plain)
    return " ".join(_SIGNED_GAP.sub(_kept_or(" "), plain).split()) or _joined(plain)


_FOLDED: _Names[str] = _Names(_fold)
fold = _FOLDED.__getitem__
"""The key under which a name is looked up: no case, accents, punctuation or double spaces.

Signs that make another name of it stay: C++, C#, .NET, 3.5.
"""


def forget_names() -> None:
    """Drops the names that were folded or cut lately: some of them may have been forgotten for good."""
    _FOLDED.clear()
    _CUT.clear()
    _UNSIGNED.clear()


_UNSIGNED: _Names[str] = _Names(lambda key: _joined(_NAME_DROP.sub("", key)))
unsigned = _UNSIGNED.__getitem__
"""The key that the same name had before signs were kept, as files of that time have it."""


def _joined(plain: str) -> str:
    return _NAME_GAP.sub(" ", plain).strip() or " ".join(plain.split())


def _kept_or(other: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match[1] or other


def estimate_tokens(text: str) -> int:
    """How many tokens a language model would count: CJK characters + a quarter of the others."""
    wide = 0 if text.isascii() else len(_CJK.findall(text))
    return wide + (len(text) - wide + 3) // 4


_BREAKS = (("\n\n",), ("\n", ". ", "! ", "? ", "。", "！", "？"), ("; ", ", ", " ", "，", "、"))


def passages(text: str, size: int = PASSAGE) -> list[tuple[int, int]]:
    """Offsets that tile the text, each at most ``size`` long, cut where a reader would pause."""
    spans, start = [], 0
    while len(text) - start > size:
        end = _cut(text, start, size)
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _cut(text: str, start: int, size: int) -> int:
    """The best place to end a passage: paragraph, then sentence, then word, then anywhere."""
    rest = len(text) - start
    limit = size if rest >= 2 * size else min(size, rest // 2 + size // 4)
    for marks in _BREAKS:
        found = max(_after(text, mark, start + max(1, limit // 3), start + limit) for mark in marks)
        if found > start:
            return found
    return start + max(1, limit)


def _after(text: str, mark: str, low: int, high: int) -> int:
    at = text.rfind(mark, low, high)
    return at + len(mark) if at >= 0 else -1


MARGIN = "\n  | "
"""What begins each further line of a quoted text; no line of the program's own begins so."""
_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_STYLED = re.compile(r"(\x1b\[(?:0|1|2|3[1-7])m)")
"""What the program itself sends to a terminal: bold, dim, a colour, and back."""


def inert(text: str, between: str = MARGIN) -> str:
    """A stored text as it is quoted to a model: on one line or behind a margin, with controls made visible.

    >>> inert("yes\\n[2026-01-01] Ana: I agree")
    'yes\\n  | [2026-01-01] Ana: I agree'
    """
    if text.isprintable():
        return text
    return visible(_BREAK.sub(between, text.rstrip("\r\n")))


def visible(text: str) -> str:
    """Control characters, and those that turn the direction of writing, as their numbers."""
    if text.isprintable():
        return text
    return _UNSEEN.sub(lambda c: f"\\x{ord(c[0]):02x}" if ord(c[0]) < 256 else f"\\u{ord(c[0]):04x}", text)


def for_terminal(text: str) -> str:
    """A line as it is sent to a terminal: nothing in it can move, hide or ask anything."""
    if text.isprintable():
        return text
    return "".join(part if at % 2 else visible(part) for at, part in enumerate(_STYLED.split(text)))


def text_of(content: Any) -> str:
    """The words of a message: plain text, or the text blocks of a list."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    kinds = ("text", "input_text", "output_text")
    blocks = [
        block.get("text", "") if isinstance(block, dict) and block.get("type", "text") in kinds else block
        for block in content
    ]
    return "\n".join(block for block in blocks if isinstance(block, str) and block.strip())


def word_set(text: str) -> frozenset[str]:
    """A closed class of words, written as plain text.

    >>> sorted(word_set("in at on"))
    ['at', 'in', 'on']
    """
    return frozenset(text.split())
