"""What readers know about names: nicknames, titles, legal forms, short forms.

Data and its look-ups only; identity.py decides what follows from them. The long lists are files in
`lexicon/`.

    same_given("bob", "robert", beside=False) == True
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from worldline import lexicon
from worldline.wordlists import word_set

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
