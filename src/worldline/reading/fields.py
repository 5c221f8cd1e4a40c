"""Records in "Label: value" form: whose they are, and what each field says.

A record speaks of the thing that its name field or its heading names. Where nothing is named, a short
field says something of itself: the tier is Gold. Sentences behind a label ("Decision: we take NATS") are none.

    "Patient: R. Okafor. Allergies: latex, aspirin." → R. Okafor is allergic to latex; … to aspirin
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import Claim, predicate_key
from worldline.reading.cues import CONTACT, PRICED
from worldline.reading.families import Family, families
from worldline.reading.voices import is_given_name
from worldline.text import stop

_LABEL = r"[A-Z*•-]?[^\W\d_][\w /.()&’'#-]{0,48}?"
_FIELD = re.compile(rf"(?P<label>{_LABEL})\s*(?::(?=\s)|=|→)\s*(?P<value>.+)", re.S)
_NEXT = re.compile(r"(?:[.;,|]|\s[–—-])\s+(?=[^\W\d_][\w /’'-]{0,30}:\s)|\s*[;\n|]\s*")
_OF = re.compile(r"^(?P<noun>.+?)\s+(?:of|for|at|in|on)\s+(?:the\s+)?(?P<thing>.+)$", re.I)
_LIST = re.compile(r"\s*(?:(?<!\d),|,(?!\d{3}(?!\d)))\s*(?:and\s+)?|\s+and\s+|\s*/\s+")
"""Between the items of a list; the comma of "40,000" is none."""
_ROLE_NAME = re.compile(r"^(?P<role>[a-z][\w -]{1,24}?)(?:\s[–—-])?\s+(?P<name>(?:[A-Z]|\d).+)$")
_PAIR = re.compile(r"^(?P<role>[a-z]+(?: [a-z]+)?) (?P<name>[\w.-]+(?: [\w.-]+)?)$")
_COUNTED = re.compile(r"^[\d,.]+\s+[a-z]")
_BRACKET = re.compile(r"\s*\(([^)]*)\)\s*$")
_SENTENCE_END = re.compile(r"(?<![A-Z])(?<!Mr)(?<!Ms)(?<!Dr)(?<!St)(?<!No)(?<!Mrs)(?<!Prof)\.\s+(?=[A-Z])")
_SENTENCE = re.compile(
    r"(?:I|we|he|she|it|they|you|there)(?:['’]\w+)?\s"
    r"|(?:[\w’'-]+\s+){1,4}?(?:has|have|had|is|are|was|were|will)\s",
    re.I,
)
"""What stands behind the colon of a sentence: "Good news: the roof is done"."""
_IN_LABELS = frozenset("of for at in on and the to by no with".split())
_NOTHING = frozenset({"none", "n/a", "-", "tbd", "unknown", "no", "yes", "todo"})
NAMING = frozenset({"name", "full name"})


class Field(Struct, frozen=True):
    """One field, and where its text stands."""

    label: str
    value: str
    begin: int
    end: int


def fields(text: str) -> tuple[str, list[Field]]:
    """The heading and the fields of a record; none where the text is no record."""
    found: list[Field] = []
    heading = ""
    for at, (begin, end) in enumerate(_pieces(text)):
        piece = text[begin:end].strip()
        match = _FIELD.fullmatch(piece.rstrip(".")) if piece else None
        if match and _is_label(match["label"]) and not _SENTENCE.match(match["value"]):
            start = begin + text[begin:end].find(piece)
            value = _SENTENCE_END.split(match["value"], 1)[0].strip()
            stop = start + match.start("value") + len(value)
            found.append(Field(match["label"].strip(" *•-"), value, start, stop))
        elif piece and not found and not at:
            heading = piece.rstrip(".:")
    return heading, found


def _pieces(text: str) -> list[tuple[int, int]]:
    cuts = [(m.start(), m.end()) for m in _NEXT.finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    return list(zip(starts, ends, strict=True))


def _is_label(said: str) -> bool:
    said_words = said.strip(" *•-").lower().split()
    sentence = any(w in stop() and w not in _IN_LABELS for w in said_words)
    return (
        bool(said_words)
        and len(said_words) <= 6
        and said_words[0] not in words("no_labels.txt")
        and not sentence
    )


def claims_of_fields(text: str) -> tuple[list[Claim], str, list[tuple[int, int]]]:
    """What a record says, of whom, and the characters that say it."""
    heading, found = fields(text)
    if not found:
        return [], "", []
    subject, rest = _subject(heading, found)
    claims = [claim for field in rest for claim in _claims(field, subject)]
    if not claims:
        first = found[0]
        is_kind = first.label.lower() in words("record_kinds.txt") and first.value[:1].isupper()
        return [], _unbracketed(first.value)[0].partition(",")[0].strip() if is_kind else "", []
    named = [(f.begin, f.end) for f in found if f not in rest]
    return claims, subject, [*named, *{c.chars for c in claims}]


def bracketed(text: str) -> tuple[list[Claim], str]:
    """What stands in brackets behind a name: "Biscuit (beagle, 7 y)"; and the text without it."""
    found: list[Claim] = []
    for match in _BEHIND.finditer(text):
        said = [_in_brackets(match["name"], item.strip(), match) for item in match["said"].split(",")]
        if all(said):
            found += [claim for claim in said if claim is not None]
            text = f"{text[: match.start('all')]}{' ' * len(match['all'])}{text[match.end('all') :]}"
    return found, text


_BEHIND = re.compile(
    r"(?<![\w(])(?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})(?P<all>\s\((?P<said>[^()]{2,60})\))"
)
_YEARS = re.compile(r"(?P<n>\d{1,3})\s?(?:y|yo|yrs?|years?)?(?: old)?")


def _in_brackets(name: str, said: str, match: re.Match[str]) -> Claim | None:
    here = Field("", said, match.start(), match.end())
    if age := _YEARS.fullmatch(said):
        return replace(_claim(name, "is", "age", age["n"], "text", here, "one"), family="age")
    if (role := _ROLE_NAME.match(said)) and role["role"] in words("person_roles.txt"):
        found = _attribute(name, role["role"], role["name"], here)
        return found[0] if found else None
    if is_given_name(name.split()[0]) and " " in name and all(w[:1].isupper() for w in said.split()):
        works = families().all["works_at"]
        return replace(
            _claim(name, works.reads, works.name, said, "entity", here, works.holds), family=works.name
        )
    word = said.lower().split()[-1] if said else ""
    kinds = words("animals.txt"), words("professions.txt"), _SEXES
    if len(said.split()) > 3 or not (any(word in kind for kind in kinds) or families().by_word(said.lower())):
        return None
    return _claim(name, "is", "|be", said, "text", here, "many")


_SEXES = frozenset({"male", "female", "spayed", "neutered"})


def _subject(heading: str, found: list[Field]) -> tuple[str, list[Field]]:
    """Whom the record speaks of: the name field, the field of a kind of thing, or the heading."""
    for at, field in enumerate(found):
        if field.label.lower() in NAMING:
            return field.value, found[:at] + found[at + 1 :]
    heading = re.sub(r",\s+[a-z].*", "", heading)  # "Mr Rinne, discharged on Monday"
    heading = _TALKED_WITH.sub("", heading)
    if _is_name(heading):
        return heading, found
    first = found[0]
    if first.label.lower() in words("record_kinds.txt") and first.value[:1].isupper():
        value, _ = _unbracketed(first.value)
        return value, found[1:]
    return "", found


_TALKED_WITH = re.compile(
    r"^(?:call|meeting|chat|visit|lunch|catch-up|demo|interview|conversation|email|kick-off|review|session) "
    r"(?:with|from|to|at|for)\s+", re.I,
)  # fmt: skip


def _is_name(said: str) -> bool:
    return (
        bool(said)
        and len(said.split()) <= 8
        and (said[:1].isupper() or said[:1].isdigit())
        and not said.endswith("?")
    )


def _claims(field: Field, subject: str) -> list[Claim]:
    label, value = field.label, field.value.strip().rstrip(".")
    table = families()
    if PRICED.match(value) and not subject and len(label.split()) > 1:
        return _of_a_thing(label, value, field)
    inner = _OF.match(label)
    if inner and (table.by_noun(inner["noun"].lower()) or not subject):
        return _attribute(inner["thing"], inner["noun"], value, field)
    if not table.by_noun(label.lower()) and (_has_name(label) or not subject):
        found = _of_a_thing(label, value, field) if _has_name(label) else []
        return found or _parted(label, value, field) or _itself(label, value, field)
    if subject:
        return _attribute(subject, label, value, field)
    return _parted(label, value, field) or _itself(label, value, field)


def _parted(label: str, value: str, field: Field) -> list[Claim]:
    """ "Lantern migration deadline": the thing, and the noun for what it has."""
    said, nouns = label.split(), families().nouns
    if label.lower() in nouns:
        return []
    for at in range(1, len(said)):
        if (noun := " ".join(said[at:])) in nouns and (said[0][0].isupper() or len(said) > 2):
            return _attribute(" ".join(said[:at]).removesuffix("'s"), noun, _first(value), field)
    return []


def _first(value: str) -> str:
    """ "Iron Barn, monthly plan" begins with a name, and the rest is more of it."""
    name, comma, _ = value.partition(", ")
    return name if comma and all(w[:1].isupper() or w == "&" for w in name.split()) else value


_SCHEDULE = re.compile(
    r"(?:(?:every|each|first|second|third|last) )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"(?:,? (?:at )?[\d:.]+ ?(?:am|pm|h)?)?",
    re.I,
)


def _itself(label: str, value: str, field: Field) -> list[Claim]:
    """ "Tier: Gold" of a thing that nobody names: the tier is Gold."""
    said, names = _first(_unbracketed(value)[0]), label.split()
    told = said.lower() in _NOTHING or len(said.split()) > 4 or re.search(r"[,!?]|\s[–—-]\s", said)
    sentence = any(w in stop() for w in said.lower().split()) or any(w.lower() in stop() for w in names)
    sentence = sentence and not _SCHEDULE.fullmatch(said)
    most = 5 if CONTACT.fullmatch(said) else 2
    if told or sentence or len(names) > most or any(w[0].isupper() for w in names[1:]):
        return []
    return [_claim(label, "is", "|be", said, "text", field, "one")]


def _has_name(label: str) -> bool:
    """ "Class 4b", "Standard plan": a thing of its own rather than an attribute."""
    words_ = label.split()
    if len(words_) == 1:
        return any(c.isdigit() or c == "-" for c in label)
    return any(w[0].isdigit() or w[0].isupper() for w in words_[1:]) or words_[0][0].isupper()


def _of_a_thing(thing: str, value: str, field: Field) -> list[Claim]:
    """ "Class 4b: 23 pupils, teacher Ms. Iversen, room 108" """
    claims: list[Claim] = []
    kind, _, name = thing.partition(" ")
    if kind.lower() in words("record_kinds.txt") and name[:1].isalpha() and name[:1].isupper():
        thing = name  # "Pupil Emil Sand"
    for part in _LIST.split(value):
        role = _ROLE_NAME.match(part)
        if (state := _state(thing, part, field)) is not None:
            claims.append(state)
        elif _COUNTED.match(part):
            claims.append(_claim(thing, "has", "owns", part, "text", field, "many"))
        elif (
            role
            and (
                families().by_noun(role["role"])
                or role["role"] in words("person_roles.txt")
                or (len(role["role"].split()) == 1 and not role["role"].endswith(("ed", "ing")))
            )
            and not re.search(r"\s[a-z]{3,}", role["name"])
        ):
            claims += _attribute(thing, role["role"], role["name"], field)
        elif PRICED.match(part):
            claims += _attribute(thing, "price", part, field)
        elif (pair := _PAIR.match(part)) and pair["role"] in _things():
            claims += _attribute(thing, pair["role"], pair["name"], field)
    return claims


def _state(thing: str, said: str, field: Field) -> Claim | None:
    """ "allergic to eggs", "head office in Bristol" under a name: what it is, without "is"."""
    match = _STATE.match(said)
    if match is None:
        return None
    for pattern in families().by_verb(f"be {match['what']} {match['prep']}"):
        if pattern.effect == "holds" and (pattern.subject, pattern.behind) == ("S", "O"):
            family = pattern.family
            phrase = f"is {match['what']} {match['prep']}"
            made = _claim(thing, phrase, family.name, match["value"], "text", field, family.holds)
            return replace(made, family=family.name, fixed=not family.changes)
    named = families().by_noun(match["what"])
    if match["prep"] in ("in", "at") and any(n.family.object == "place" for n in named):
        return _attribute(thing, match["what"], match["value"], field)[0]
    return None


_STATE = re.compile(
    r"^(?P<what>[a-z]+(?: [a-z]+)?) (?P<prep>to|in|at|on|by|with|from|for|of) (?:the )?(?P<value>.+)$"
)


def _things() -> frozenset[str]:
    """Nouns for what a thing has: "status degraded" under the name of a server."""
    return frozenset(n for n, all_ in families().nouns.items() if any(f.subject != "person" for f in all_))


def _attribute(subject: str, label: str, value: str, field: Field) -> list[Claim]:
    noun = _singular(label.lower())
    family = next((n.family for n in families().by_noun(noun)), None)
    if not value or value.lower() in _NOTHING:
        return []
    if (
        family is not None
        and family.holds != "series"
        and family.object not in ("date", "time", "contact", "amount", "money", "place", "text")
    ):
        values = [v for v in _LIST.split(value) if v]
    else:
        values = [_unbracketed(value)[0]]
    if family is not None and family.object == "person":
        return _people(subject.strip(), noun, values, family, field)
    return [_one(subject.strip(), noun, one, family, field, len(values) > 1) for one in values]


def _people(subject: str, noun: str, values: list[str], family: Family, field: Field) -> list[Claim]:
    """Names, each perhaps with what they are in brackets: "Enzo Rinaldi (brother)"."""
    found: list[Claim] = []
    for value in values:
        name, what = _unbracketed(value)
        if not name[:1].isupper() and not _HANDLE.fullmatch(name):
            if found and _ROLE.search(name):  # "Simon Pugh, head of logistics"
                found.append(_claim(found[-1].object, "is", "|be", name, "text", field, "many"))
            continue
        found.append(_one(subject, noun, name, family, field, len(values) > 1))
        if what.lower() in words("person_roles.txt"):
            found += _attribute(subject, what, name, field)
    return found


_HANDLE = re.compile(r"@?[a-z][\w-]*[._][\w.-]+|@[a-z][\w.-]+")
"""What somebody is called by a machine: s.kowal, @ana."""
_ROLE = re.compile(
    r"^(?:\w+ )?(?:head|director|manager|lead|chief|owner|officer|chair|founder|buyer|partner)\b"
)


def _one(subject: str, noun: str, value: str, family: Family | None, field: Field, several: bool) -> Claim:
    named = value[:1].isupper()
    if family is None:
        return _claim(
            subject,
            f"'s {noun} is",
            predicate_key(noun.split(), "of"),
            value,
            "entity" if named else "text",
            field,
            "one",
        )
    kind = (
        "date"
        if family.object == "date"
        else "entity"
        if named and family.object in ("person", "place", "organisation")
        else "text"
    )
    made = _claim(
        subject, f"'s {noun} is", family.name, value, kind, field, "many" if several else family.holds
    )
    return replace(made, family=family.name, fixed=not family.changes)


def _claim(subject: str, phrase: str, key: str, value: str, kind: str, field: Field, holds: str) -> Claim:
    return Claim(
        subject, phrase, key, value, kind=kind, holds=holds, definite=holds == "one", record=True, confidence=0.9,
        chars=(field.begin, field.end), matter=value.split()[-1].lower() if value else "",
    )  # fmt: skip


def _singular(noun: str) -> str:
    table = families()
    if table.by_noun(noun):
        return noun
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        if noun.endswith(ending) and table.by_noun(noun[: -len(ending)] + instead):
            return noun[: -len(ending)] + instead
    return noun


def _unbracketed(value: str) -> tuple[str, str]:
    match = _BRACKET.search(value)
    return (value[: match.start()], match[1]) if match else (value, "")
