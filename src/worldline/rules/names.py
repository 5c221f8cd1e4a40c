"""What readers know about names: nicknames, titles, legal forms, short forms.

Data and its look-ups only; identity.py decides what follows from them. The long lists are files in
`lexicon/`.

    same_given("bob", "robert", beside=False) == True
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from worldline import lexicon
from worldline.text import fold, word_set

MALE = word_set("mr sir lord herr monsieur senor signor uncle grandpa king prince brother father fr")
FEMALE = word_set(
    "mrs ms miss dame lady frau madame mme senora signora aunt auntie grandma queen princess sister"
)
TITLES = (
    MALE
    | FEMALE
    | word_set(
        "mx dr prof professor rev reverend capt captain lt col gen sgt hon president senator judge dr med "
        "doctor coach chef pope"
    )
)
LINEAGE = {"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr"}
DEGREES = word_set("phd md esq msc mba bsc")
PARTICLES = word_set("van von der den de da do dos das del della di du la le bin ibn al el ter ten")
LEGAL = word_set(
    "inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh ag kg se sa sas "
    "sarl srl spa bv nv oy oyj ab as asa aps kk pty pte pvt private sro zoo bhd tbk jsc ooo ltda "
    "cie mbh ug kgaa ohg eg ev sl slu sgps lda kft zrt doo ad"
)
LEADING_LEGAL = word_set("ooo oao zao pt ao")
GENERIC = word_set("group holding holdings worldwide global international enterprise enterprises")
SHORT_FORMS = {
    "intl": "international",
    "univ": "university",
    "uni": "university",
    "tech": "technologies",
    "technology": "technologies",
    "technologie": "technologies",
    "mfg": "manufacturing",
    "mgmt": "management",
    "bros": "brothers",
    "assoc": "associates",
    "assn": "association",
    "natl": "national",
    "dept": "department",
    "inst": "institute",
    "ctr": "center",
    "centre": "center",
    "sys": "systems",
    "system": "systems",
    "svcs": "services",
    "svc": "services",
    "service": "services",
    "labs": "laboratories",
    "lab": "laboratories",
    "laboratory": "laboratories",
    "ind": "industries",
    "industry": "industries",
    "hosp": "hospital",
    "pharma": "pharmaceuticals",
    "pharmaceutical": "pharmaceuticals",
    "solution": "solutions",
    "st": "saint",
    "mt": "mount",
    "ft": "fort",
    "eng": "engineering",
    "engg": "engineering",
    "dev": "development",
    "comms": "communications",
    "fin": "financial",
    "ins": "insurance",
    "elec": "electric",
    "transp": "transport",
    "logistic": "logistics",
}
ORGANISATION_WORDS = word_set(
    "bank university institute school college hospital museum church foundation "
    "association agency "
    "ministry department club union league team society council committee partners ventures capital "
    "media press studio studios records airlines airways motors foods energy insurance consulting "
    "software hotel hotels restaurant cafe bakery library laboratories systems services solutions "
    "technologies industries logistics brothers associates"
)

ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6"}
GIVEN = lexicon.words("given_names.txt")


class _Nicknames(NamedTuple):
    spelt: dict[str, set[str]]
    """A full form → the spellings that mean the same anywhere."""
    beside: dict[str, set[str]]
    """A full form → those that mean the same only beside the same family name."""
    full: dict[str, set[str]]
    """A short form → its full forms."""


@cache
def _nicknames() -> _Nicknames:
    found = _Nicknames({}, {}, {})
    for line in lexicon.lines("nicknames.txt"):
        weak = line.startswith("~")
        first, *short = line.lstrip("~ ").split()
        for form in first.split("|"):
            spellings = set(form.split("/"))
            for word in spellings:
                (found.beside if weak else found.spelt).setdefault(word, set()).update(spellings)
        for word in short:
            found.full.setdefault(word, set()).update(re.split(r"[|/]", first))
    return found


@cache
def known_given() -> frozenset[str]:
    """Given names, nicknames and their full forms."""
    known = _nicknames()
    listed = lexicon.words("given_names_more.txt")
    return GIVEN | listed | known.spelt.keys() | known.beside.keys() | known.full.keys()


def same_given(a: str, b: str, *, beside: bool) -> bool:
    """A name and its nickname, or two spellings of one name; `beside` the same family name more count."""
    known = _nicknames()
    full_a, full_b = known.full.get(a, set()), known.full.get(b, set())
    if a in full_b or b in full_a or b in known.spelt.get(a, ()):
        return True
    if a[:3] == b[:3] and full_a & full_b:
        return True
    return beside and b in known.beside.get(a, ())


def is_nickname(a: str, b: str) -> bool:
    """One is a short form of the other."""
    full = _nicknames().full
    return a in full.get(b, ()) or b in full.get(a, ())


def given_forms(name: str) -> frozenset[str]:
    """A given name and the first of the spellings of each full form that it may stand for."""
    known = _nicknames()
    fulls = known.full.get(name, set()) | {name}
    groups = (known.spelt.get(full, set()) | known.beside.get(full, set()) | {full} for full in fulls)
    return frozenset(min(group) for group in groups) | {name}


# Letters of other alphabets ---------------------------------------------------------------------------


@cache
def letters(spelt: bool) -> dict[int, str]:
    """A table for str.translate: letters as they are written plainly, or spelt out (ö: o, oe)."""
    rows = [line.split() for line in lexicon.lines("name_letters.txt")]
    table = {row[0]: row[-1 if spelt else 1].strip("-") for row in rows}
    return str.maketrans(
        table | {letter.upper(): to.capitalize() for letter, to in table.items() if len(letter.upper()) == 1}
    )


@cache
def east_asian() -> dict[int, str]:
    """A table for str.translate: one form of each Han character, katakana for hiragana."""
    groups = " ".join(lexicon.lines("han_variants.txt")).split()
    han = {ord(char): group[0] for group in reversed(groups) for char in group[1:]}
    return han | {code: chr(code + 0x60) for code in range(0x3041, 0x3097)}


@cache
def east_asian_words(kind: str) -> tuple[str, ...]:
    """Family names, honorifics or words for things, in the form that is compared; longest first."""
    rows = [line.split() for line in lexicon.lines("east_asian_names.txt")]
    found = {word.translate(east_asian()) for row in rows if row[0] == kind for word in row[1:]}
    return tuple(sorted(found, key=len, reverse=True))


# How a word of a name sounds: two codes, one for transliterations and one for the ear -------------
#
# skeleton("tchaikovsky") == skeleton("chaikovskiy")


_SOUNDS = (
    ("tsch", "c"),
    ("tch", "c"),
    ("sch", "s"),
    ("sh", "s"),
    ("zh", "z"),
    ("kh", "h"),
    ("ch", "c"),
    ("ph", "f"),
    ("gh", "g"),
    ("th", "t"),
    ("dj", "j"),
    ("dzh", "j"),
    ("ck", "k"),
    ("kn", "n"),
    ("wr", "r"),
    ("qu", "kv"),
    ("q", "k"),
    ("x", "ks"),
    ("w", "v"),
    ("tz", "c"),
    ("ts", "c"),
)
_CLASSES = {c: n for n, group in enumerate(("bpfv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for c in group}


@lru_cache(maxsize=50_000)
def skeleton(word: str) -> str:
    """The consonants as a transliterator hears them: Tchaikovsky and Chaikovskiy agree."""
    for spelt, heard in _SOUNDS:
        word = word.replace(spelt, heard)
    word = re.sub(r"c(?=[aou lrnt]|$)", "k", word) if not word.startswith("c") else word
    first = "i" if word[:1] in "iyj" else word[:1]
    rest = re.sub(r"[aeiouyjh]", "", word[1:])
    return first + re.sub(r"(.)\1+", r"\1", rest)


@lru_cache(maxsize=50_000)
def phonetic(word: str) -> str:
    """A Soundex-like code of five: PH sounds F, CK K, initial KN N, initial WR R."""
    word = word.replace("ph", "f").replace("ck", "k")
    if word[:2] in ("kn", "wr", "ps", "gn"):
        word = word[1:]
    first = {"c": "k", "q": "k", "z": "s", "y": "i", "j": "i", "w": "v"}.get(word[:1], word[:1])
    code, last = "", _CLASSES.get(word[:1])
    for letter in word[1:]:
        number = _CLASSES.get(letter)
        if number is not None and number != last:
            code += str(number)
        if letter not in "hw":
            last = number
    return (first + code)[:5]


# What a name says ---------------------------------------------------------------------------------
#
# What a name says: its carrying words, numbers, titles, lineage, initials; read once, in linear time.
#
# It compares nothing: `identity.py` does.
#
#     read("Dr. J.R. Müller Jr.").parts == ("j", "r", "muller")


STOPS = word_set("the and of for")
_KINDS = LEGAL | ORGANISATION_WORDS | GENERIC
_TRAILING = LEGAL | DEGREES | LINEAGE.keys() | {"and"}
_OWNER = re.compile(r"(?<!\w)\w+['’]s\b")
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?\.?")
_ROMAN = {r: str(n) for n, r in enumerate("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI".split(), 1)}


class Name(NamedTuple):
    """What is read off a name."""

    parts: tuple[str, ...]
    """The words that carry it: folded, in order, without titles, legal forms and articles."""
    spelt: tuple[str, ...]
    """The same with letters spelt out: mueller for müller."""
    numbers: tuple[str, ...]
    lineage: str
    gender: str
    owners: tuple[str, ...]
    """The "emmas" of "Emma's sister"."""
    initials: tuple[str, ...]
    """What an acronym of it would be."""
    acronym: str
    """Its letters, if it is nothing but a few capitals."""
    titled: bool
    organisation: bool
    couple: bool


@lru_cache(maxsize=50_000)
def read(name: str) -> Name:
    """A name, read."""
    name = unicodedata.normalize("NFKC", name)
    plain = _prepared(name.translate(letters(False)))
    spelt = plain if name.isascii() else _prepared(name.translate(letters(True)))
    parts, lineage, titles = _core(plain)
    return Name(
        parts, parts if spelt == plain else _core(spelt)[0],
        tuple(sorted(number for word in parts for number in _DIGITS.findall(word))), lineage,
        "m" if titles & MALE else "f" if titles & FEMALE else "",
        tuple(fold(match[0]) for match in _OWNER.finditer(name)),
        _initials(plain), _acronym(name), bool(titles),
        not _KINDS.isdisjoint(SHORT_FORMS.get(word, word) for word in plain), "and" in plain,
    )  # fmt: skip


def _prepared(name: str) -> list[str]:
    """Its words in their usual order, folded, with signs as words."""
    tokens = _turned(name).replace("&", " and ").split()
    for at, token in enumerate(tokens[:-1]):
        if "." in token and _DOTTED.fullmatch(token):
            tokens[at] = token.replace(".", " ")
    if len(tokens) > 1:
        tokens[-1] = _ROMAN.get(tokens[-1], tokens[-1])
    return [part for word in fold(" ".join(tokens)).split() for part in _signs(word)]


def _turned(name: str) -> str:
    """ "Smith, John" as "John Smith"."""
    before, comma, after = name.partition(",")
    if not comma:
        return name
    family, given = fold(before).split(), fold(after).split()
    if "," in after or not 0 < len(family) <= 3 or not 0 < len(given) <= 4:
        return name
    if given[0] in LEGAL or given[0] in LINEAGE or given[0] in DEGREES or not STOPS.isdisjoint(family):
        return name
    return f"{after} {before}" if len(family) == 1 or given[0] in known_given() else name


def _signs(word: str) -> list[str]:
    if word[0] == "." and len(word) > 1:
        return ["dot" + word[1:]]
    bare = word.rstrip("+#")
    if bare == word or not bare:
        return [word]
    return [bare, *("sharp" if sign == "#" else "plus" for sign in word[len(bare) :])]


def _core(words: list[str]) -> tuple[tuple[str, ...], str, frozenset[str]]:
    """The carrying words, the lineage, and the titles that stood before."""
    begin, end, lineage = 0, len(words), ""
    while end - begin > 1 and words[begin] in TITLES and words[begin + 1] not in STOPS:
        begin += 1
    titles = frozenset(words[:begin])
    while end - begin > 1 and words[end - 1] in _TRAILING:
        lineage = LINEAGE.get(words[end - 1], lineage)
        end -= 1
    if end - begin > 2 and words[end - 1].isdigit() and words[begin] in known_given():
        lineage = words[end - 1]
        end -= 1
    if end - begin > 1 and words[begin] in LEADING_LEGAL:
        begin += 1
    core = [word for word in words[begin:end] if word not in STOPS] or words[begin:end]
    if len(core) > 1:
        core = [ORDINALS.get(word) or SHORT_FORMS.get(word, word) for word in core]
    core = [match[1] if (match := _ORDINAL.fullmatch(word)) else word for word in core]
    return tuple(core if "".join(core).isascii() else _eastern(core)), lineage, titles


def _eastern(words: list[str]) -> list[str]:
    """One form of each character, kana alike, no honorific behind the name."""
    words = [word.translate(east_asian()) for word in words]
    for honorific in east_asian_words("honorific"):
        if words[-1] == honorific and len(words) > 1:
            return words[:-1]
        if words[-1].endswith(honorific) and len(words[-1]) - len(honorific) >= 2:
            return [*words[:-1], words[-1].removesuffix(honorific)]
    return [word.rstrip("ー") if len(word) > 3 else word for word in words]


def _initials(words: list[str]) -> tuple[str, ...]:
    told = [word for word in words if word not in STOPS]
    found = {"".join(word[0] for word in some) for some in (words, told, [w for w in told if w not in LEGAL])}
    person = len(told) == 2 and told[0] in known_given()
    return tuple(sorted(some for some in found if 2 <= len(some) <= 6 and not person))


def _acronym(name: str) -> str:
    """The letters of a name that is nothing but a few capitals (IBM, F.B.I., P&G, DoD); else nothing."""
    tokens = name.replace(".", "").replace("&", "").split()[:8]
    found = "".join(token for token in tokens if fold(token) not in LEGAL)
    if not 2 <= len(found) <= 6 or not found.isascii() or not found.isalpha():
        return ""
    mixed = 3 <= len(found) <= 5 and found[0].isupper() and found[-1].isupper()
    return found.lower() if found.isupper() or mixed else ""
