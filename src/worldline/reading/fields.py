"""Records in "Label: value" form: whose they are, and what each field says.

A record speaks of the thing that its name field or its heading names. Where nothing is named, a short
field says something of itself: the tier is Gold. Sentences behind a label ("Decision: we take NATS") are none.

    "Patient: R. Okafor. Allergies: latex, aspirin." → R. Okafor is allergic to latex; … to aspirin
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from worldline.dates.words import ANY_WEEKDAY, MONTH
from worldline.lexicon import lines, words
from worldline.reading.claim import CONTACT, PRICED, Claim, is_given_name, predicate_key
from worldline.reading.families import LINKING as PREPOSITIONS
from worldline.reading.families import Family, families
from worldline.text import stop

_LABEL = r"[A-Z*•-]?[^\W\d_][\w /.()&’'\"#-]{0,48}?"
_FIELD = re.compile(rf"(?P<label>{_LABEL})\s*(?::(?=\s)|=|→)\s*(?P<value>.+)", re.S)
_NEXT = re.compile(r"(?:[.;,|]|\s[–—-])\s+(?=[^\W\d_][\w /’'-]{0,30}:\s)|\s*[;\n|]\s*")
_OF = re.compile(r"^(?P<noun>.+?)\s+(?:of|for|at|in|on)\s+(?:the\s+)?(?P<thing>.+)$", re.I)
_LIST = re.compile(r"\s*(?:(?<!\d),|,(?!\d{3}(?!\d)))\s*(?:and\s+)?|\s+and\s+|\s*/\s+")
"""Between the items of a list; the comma of "40,000" is none."""
_ROLE_NAME = re.compile(r"^(?P<role>[a-z][\w -]{1,24}?)(?:\s[–—-])?\s+(?P<name>(?:[A-Z]|\d).+)$")
_PAIR = re.compile(r"^(?P<role>[a-z]+(?: [a-z]+)??) (?P<name>[\w.-]+(?: [\w.-]+)?)$")
_COUNTED = re.compile(r"^[-−]?[\d,.]+\s+(?:[a-z%°]|[A-Z]{2})")
_BRACKET = re.compile(r"\s*\(([^)]*)\)\s*$")
_SENTENCE_END = re.compile(
    r"(?<![A-Z])(?<!Mr)(?<!Ms)(?<!Dr)(?<!St)(?<!Pt)(?<![Nn]o)(?<!Mrs)(?<!Prof)(?<!Fam)\.\s+(?=[A-Z])"
)
_SENTENCE = re.compile(
    r"(?:I|we|he|she|it|they|you|there)(?:['’]\w+)?\s"
    r"|(?:[\w’'-]+\s+){1,4}?(?:has|have|had|is|are|was|were|will)\s",
    re.I,
)
"""What stands behind the colon of a sentence: "Good news: the roof is done"."""
_ON_DAY = re.compile(
    r"(?:,? (?:at )?(?:noon|midnight|\d\d?[:.]\d\d|\d\d?(?:[:.]\d\d)? ?[ap]m))?"
    rf"(?: (?:on|since|from|as of|until|in) (?:the )?(?:(?:\d+ )?{MONTH}(?: \d+)*|\d{{4}}|{ANY_WEEKDAY}))?$",
    re.I,
)
"""Since when or on which day, behind a label: "Chair since May 2019", "River level on 3 May"."""
_IN_LABELS = frozenset("of for at in on and the to by no with".split())
_NOTHING = frozenset({"none", "n/a", "-", "tbd", "unknown", "no", "yes", "todo"})
NAMING = frozenset({"name", "full name"})


_SPEAKS = re.compile(r"(?:I|We|You|He|She|It|They|My|Our|This|That|There)\b", re.I)
"""Who speaks in sentences makes no record: "I'm Greta, 43, and I paint"."""
_PERSON = re.compile(
    r"\s*(?:(?:Pt|Pat|Patient|Client|Resident|Guest|Candidate)\.? )?(?:(?:Mr|Mrs|Ms|Miss|Dr)\.? )?"
    r"[A-Z][\w'-]+(?: [A-Z][\w'-]*\.?)*(?P<comma>,) (?:aged? )?[1-9]\d(?: ?y(?:o|rs?|ears old)?)?,.+",
    re.S,
)
"""A person by name and age, and what else is noted of them: "Ms Ida Visser, 58, on metoprolol, ex-smoker"."""
_THING = re.compile(
    r"\s*(?:(?:Dr|Prof)\.? [A-Z][\w'-]+(?: [A-Z][\w'-]+)*"
    r"|(?!(?:On|In|At|Since|By|From|Last|Next|After|Before|Until|Week|Page)\b)(?=[^,]*[\d\"”][^,\s]*,)[A-Z][\w'’-]*"
    r"(?: (?!(?:is|are|was|were|has|had|costs?)\b)(?:no +)?(?:[\"“][^\"”,]+[\"”]|[\w#/-]+)){1,3})"
    r"(?P<comma>,) (?!and |but |so |which |who |the |our |my )"
    r"[A-Za-z\d][^,:;]*?,(?!.*\b(?:is|are|was|were|has|have|will|can|I)\b).+",
    re.S,
)
"""A thing by name or number, and what is noted of it: "Batch 64, dark rye, 48 loaves"."""


def _with_colon(text: str) -> str:
    """A record whose heading ends with a comma, with a colon in its place."""
    headed = None if _SPEAKS.match(text) else _PERSON.match(text) or _THING.match(text)
    return f"{text[: headed.start('comma')]}:{text[headed.end('comma') :]}" if headed else text


class Field(Struct, frozen=True):
    """One field, and where its text stands."""

    label: str
    value: str
    begin: int
    end: int

    @property
    def start(self) -> int:
        """Where its value begins."""
        return self.end - len(self.value)

    def items(self) -> list[Field]:
        """The items of a listed value, as fields under the same label."""
        found, at = list[Field](), 0
        for end, after in [*((m.start(), m.end()) for m in _LIST.finditer(self.value)), (len(self.value), 0)]:
            if self.value[at:end]:
                found.append(Field(self.label, self.value[at:end], self.start + at, self.start + end))
            at = after
        return found or [self]


_ARROW = re.compile(r"(?<!^)\s*(?:->|→|=>)\s*")
_CHANGED = re.compile(r"(?<=\w) (?:has |was )?(?:changed|change|updated?|moved)$")
"""What was something else before: "Owner changed: Ana -> Ben"."""


def fields(text: str) -> tuple[str, list[Field]]:
    """The heading and the fields of a record; none where the text is no record."""
    found: list[Field] = []
    heading = ""
    for at, (begin, end) in enumerate(_pieces(text)):
        piece = text[begin:end].strip()
        match = _FIELD.fullmatch(piece.rstrip(".")) if piece else None
        label = _ON_DAY.sub("", match["label"].strip(" *•-")) if match else ""
        if match and _is_label(label) and not _SENTENCE.match(match["value"]):
            start = begin + text[begin:end].find(piece)
            value = _SENTENCE_END.split(match["value"], 1)[0].strip()
            stop = start + match.start("value") + len(value)
            known = any(families().by_noun(word) for word in label.lower().split())
            value = _ARROW.split(value)[-1] if known or _CHANGED.search(label) else value
            label = _CHANGED.sub("", label)
            found.append(Field(label, value, start, stop))
        elif piece and not found and not at:
            heading = _SENTENCE_END.split(piece, 1)[0].rstrip(".:")
    return heading, found


def _pieces(text: str) -> list[tuple[int, int]]:
    cuts = [(m.start(), m.end()) for m in _NEXT.finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    return list(zip(starts, ends, strict=True))


def _is_label(said: str) -> bool:
    said_words = said.lower().split()
    plain = re.sub(r"(?<= )[A-Z]$", "", said).lower().split()  # "Freezer A"
    sentence = any(w in stop() and w not in _IN_LABELS for w in plain)
    return (
        bool(said_words)
        and len(said_words) <= 6
        and (said_words[0] not in words("no_labels.txt") or said_words[-1].isdigit())
        and not sentence
    )


def claims_of_fields(text: str) -> tuple[list[Claim], str, str]:
    """What a record says, the text that is left to be read, and whom it is about."""
    text = _with_colon(text.replace(" / ", " ; ") if text.count(" / ") > 1 and ":" in text else text)
    if len(_SET.findall(text)) > 1:
        return _logged(text), "", ""
    heading, found = fields(text)
    heading = "" if heading.lower() in words("record_kinds.txt") else heading  # "Pt. Ida Moss, 58"
    if not found:
        claims, subject = _measured(text), _headline(text)
        if claims or not subject:
            return claims, "" if claims else text, ""
        claims = _noted(text, subject, found)
        return claims, _without(text, {c.chars for c in claims}), subject
    subject, named = _subject(heading, found)
    if named and subject.lower() in _NOTHING:
        return [], "", ""
    claims = _more_of_it(subject, named) if named else []
    claims += _noted(text, subject or _thing(found[0].label), found)
    claims += [claim for field in found if field is not named for claim in _claims(field, subject)]
    things = {_quoted(f) or _thing(f.label) for f in found}
    places = {c.chars for c in claims}
    places |= {(f.begin, f.start) for f in found if f.label.lower() in words("telling_labels.txt")}
    if named:
        places.add((named.begin, named.items()[0].end))
    if heading == subject:
        places.add((text.find(heading), text.find(heading) + len(heading)))
    for field in found:
        if _thing(field.label) or field is named:
            places.add((field.begin, field.start))
        text = _apart(text, field)
    text = _without(text, places)
    return claims, text, subject or (things.pop() if len(things) == 1 else "")


def _without(text: str, places: Iterable[tuple[int, int]]) -> str:
    for begin, end in places:
        text = f"{text[:begin]}{' ' * (end - begin)}{text[end:]}"
    return text


_HEADLINE = re.compile(r"\s*(?P<name>[A-Z][^.:,\n]{1,30})\.\s+[A-Z]")


def _headline(text: str) -> str:
    """The thing that a first short sentence names, where the others have no subject: "Bay 4. Drain blocked."."""
    head = _HEADLINE.match(text)
    if not head or any(_SPEAKS.match(s.strip()) or _SENTENCE.match(s.strip()) for s in text.split(". ")):
        return ""
    name = head["name"].strip()
    return name if head["name"] != name else _thing(name) if not name.split()[-1].islower() else ""


_DAY = re.compile(
    rf"(?:\w+,? )?(?:\d\d?(?:st|nd|rd|th)? )?{MONTH}(?: \d[\d, ]*)?|[\d/.-]{{4,10}}|{ANY_WEEKDAY}", re.I
)
_A_DAY = rf"(?:\d\d? )?{MONTH}(?: \d{{4}})?|\d[\d/.-]{{5,9}}"
_SPAN = re.compile(rf"(?:from )?({_A_DAY}) ?(?:to|until|till|[–—-]) ?({_A_DAY})", re.I)
_NOTE = re.compile(r"[^.;|\n]+(?:\.(?!\s)[^.;|\n]+)*")
_OCCASION = re.compile(
    r"(?P<what>(?:(?!\w+(?:ed|ing)\b|due\b)[A-Za-z]+ ){0,2}(?!\w+(?:ed|ing|s)\b|due\b|on\b)[A-Za-z]+) (?:on )?"
    rf"(?P<day>\d\d? {MONTH}(?: \d{{4}})?)",
    re.I,
)
_LEVEL = re.compile(r"\b\d{4}-\d\d-\d\d\S*|\b\d\d:\d\d\S*|\b(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR)\b:?")
_SET = re.compile(r"(?<!\S)(?P<label>[A-Za-z][\w.-]*)=(?P<value>\"[^\"\n]+\"|[^\s,;]+)")
_SHOP = re.compile(rf"[A-Z][^,\d]+, (?:{_DAY.pattern})")
_READ_OFF = re.compile(
    r"(?P<what>[^\W\d_][\w-]*(?: [a-z][\w-]*| [A-Z]+){0,2}) (?P<value>[-−]?[$€£]?\d[\d.,/]*(?<![.,])"
    r"(?P<unit> ?(?!paid\b|[ap]m\b|h\b)(?:[a-zµ°][\w°/]*|%|°[CF]|[A-Z]{3}))?)"
    r"(?: paid (?:by|in|with) \w+)?(?:,? (?:on )?(?P<day>\S.*))?"
)


def _noted(text: str, subject: str, found: list[Field]) -> list[Claim]:
    """What the short pieces between and behind the fields say of the thing: "BP 148/92", "unit price 0.38"."""
    claims = list[Claim]()
    for piece in _NOTE.finditer(text) if subject else ():
        said = piece.group().strip()
        begin = piece.start() + piece.group().find(said)
        here = Field("", said, begin, begin + len(said))
        if (
            begin
            and 0 < len(said.split()) < 6
            and " for " not in said
            and not any(f.begin < here.end and begin < f.end for f in found)
        ):
            said = said if said[1:2].isupper() else said[0].lower() + said[1:]
            if on := _OCCASION.fullmatch(said):
                whose = f"{subject}'s {on['what']}"
                claims.append(_claim(whose, "is on", "scheduled_for", on["day"], "date", here, "one"))
            else:
                claims += _of_a_thing(subject, here, said)
    return claims


def _logged(text: str) -> list[Claim]:
    """The pairs behind the name of what logs them: "sensor-3 temp=61C load=0.7"."""
    claims = list[Claim]()
    for line in re.finditer(r"[^\n]+", text):
        pairs = list(_SET.finditer(line.group()))
        name = " ".join(_LEVEL.sub(" ", line.group()[: pairs[0].start()]).split()) if pairs else ""
        if not _named(name) or re.search(r"[^\w -]", name) or len(name.split()) > 3:
            continue
        for pair in pairs:
            field = Field(pair["label"].replace("_", " "), pair["value"].strip('"'), *pair.span())
            field = replace(field, begin=field.begin + line.start(), end=field.end + line.start())
            claims += _attribute(name, field.label, field.value, field)
    return claims


def _measured(text: str) -> list[Claim]:
    """A note of nothing but what was read off: "LDL 3.1 mmol/L. Ferritin 80 ng/mL."."""
    claims = list[Claim]()
    for piece in re.finditer(r"(?:[^.,;\n]|[.,](?=\d))+(?:, (?=\d)[^.;\n]+)?", text):
        said = piece.group().strip()
        if not said or (not piece.start() and _SHOP.fullmatch(said)):
            continue
        match, here = _READ_OFF.fullmatch(said), Field("", said, piece.start(), piece.end())
        if not match or not _is_read_off(match):
            return []
        kind, _, rest = match["what"].partition(" ")
        if rest[:1].islower() and kind.lower() in words("record_kinds.txt"):
            claims += _attribute(kind, rest, match["value"], here)
        elif not claims and any(
            n.family.subject == "person" for n in families().by_noun(match["what"].lower())
        ):
            return []  # "Weight 71 kg" is that of whoever says it
        else:
            claims.append(_claim(match["what"], "is", "|be", match["value"], "text", here, "one"))
    return claims


def _is_read_off(found: re.Match[str]) -> bool:
    said, unit = found["what"].lower().split(), (found["unit"] or "").strip().lower()
    known = unit in words("gauges.txt") or (len(unit) < 4 and unit not in stop()) or not unit.isalpha()
    odd = known if unit else re.search(r"\d[.,/]\d", found["value"])
    verb = said[0] in words("irregular_verbs.txt") or any(w in stop() or w.endswith("ed") for w in said)
    return bool(odd) and not verb and (not found["day"] or _DAY.fullmatch(found["day"]) is not None)


def _quoted(field: Field) -> str:
    """The thing that stands first in the list of a place: `Stand 3: glider "Merlin", span 15 m`."""
    quoted = _QUOTED.fullmatch(field.items()[0].value)
    return quoted["name"] if quoted and _thing(field.label) else ""


def _apart(text: str, field: Field) -> str:
    """The text with the items of a field cut from each other: what each of them says stands by itself."""
    for item in field.items()[1:]:
        comma = text.rfind(",", field.start, item.begin)
        if comma > 0 and not _BY.match(item.value) and len(item.value.split()) < 9:
            text = f"{text[:comma]};{text[comma + 1 :]}"
    return text


_BY = re.compile(r"[a-z]+ by\b")
"""What was done to the item before: "pump failed, replaced by Omar"."""


def _more_of_it(subject: str, named: Field) -> list[Claim]:
    """What the field that names a thing says besides: `mare "Juno"`, "Bella, beagle, chip no. 4471"."""
    first, *more = named.items()
    quoted = _QUOTED.fullmatch(first.value)
    found = [_claim(subject, "is", "|be", quoted["what"], "text", first, "many")] if quoted else []
    return found + [claim for part in more for claim in _of_a_thing(subject, part)]


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
    r"(?<![\w(])(?P<name>[A-Z][\w'-]+(?: [A-Z\d][\w'-]*){0,3})(?P<all>\s\((?P<said>[^()]{2,60})\))"
)
_YEARS = re.compile(r"(?:aged? )?(?P<n>\d{1,3})\s?(?:y|yo|yrs?|years?)?(?: old)?")


def _in_brackets(name: str, said: str, match: re.Match[str]) -> Claim | None:
    here = Field("", said, match.start(), match.end())
    if age := _YEARS.fullmatch(said):
        return replace(_claim(name, "is", "age", age["n"], "text", here, "one"), family="age")
    if (role := _ROLE_NAME.match(said)) and role["role"] in words("person_roles.txt"):
        found = _attribute(name, role["role"], role["name"], here)
        return found[0] if found else None
    return _being(name, said, here)


def _being(name: str, said: str, here: Field) -> Claim | None:
    """What somebody or something is: "beagle", "ex-smoker", "type 2 diabetic"."""
    word = said.lower().split()[-1] if said else ""
    known = words("animals.txt") | words("professions.txt") | _SEXES
    parted = [f for f in families().by_word(word) if f.name != "status"]  # "vents open"
    family = next(iter(families().by_word(said.lower()) or parted), None)
    state = re.search(r"\w\wed ", said) or (" " in said and word in words("states.txt"))  # "projector broken"
    if len(said.split()) > 3 or state or not (family or word in known):
        return None
    if family is None:
        return _claim(name, "is", "|be", said, "text", here, "many")
    return replace(_claim(name, "is", family.name, said, "text", here, family.holds), family=family.name)


_SEXES = frozenset({"male", "female", "spayed", "neutered"})


def _subject(heading: str, found: list[Field]) -> tuple[str, Field | None]:
    """Whom the record speaks of, and the field that does nothing but name it.

    A name field, the heading, the field of a kind of thing, or else the thing that is the first label.
    """
    for field in found:
        if field.label.lower() in NAMING:
            return field.value, field
    if name := _headed(heading):
        return name, None
    first, names = found[0], [_named(_unbracketed(item.value)[0]) for item in found[0].items()]
    name = "" if len(names) > 1 and all(names) else names[0]
    if name and first.label.lower().removeprefix("new ") in words("record_kinds.txt"):
        return name, first
    if " " in name and first.label.endswith("ed") and _itself(first.label, first.value, first):
        return name, None  # "Resigned: Paula Stein"
    return _thing(first.label) if len(found) > 1 else "", None


_QUOTED = re.compile(r"(?P<what>[A-Za-z][a-z -]{1,20}) [\"“](?P<name>[^\"”]{2,40})[\"”]")
_CODE = re.compile(r"(?=\S*[a-z])[\w.-]*(?:\d|\w-\w)[\w.-]*")
_MADE = re.compile(r"[a-z]+(?: [a-z]+)? (?:[A-Z][\w-]* ?)+|[a-z]+(?: [A-Z][\w-]*)* (?=\S*\d)\S+")
"""A thing with its name or number: "press P9", "microscope Zelos M5"."""
_CLOCKED = re.compile(r"^\d{1,2}[:.]\d\d(?::\d\d)?\s+")
_STANDING = re.compile(rf" (?:{'|'.join(lines('state_phrases.txt'))})\b")
_DOES = re.compile(r"(?P<name>[A-Z][\w&'-]*(?: (?:[A-Z][\w&'-]*|\d[\w-]*))*) (?P<verb>[a-z]+)\b.*")
"""A sentence in front of a field: "Truck 14 left the depot, driver: Cole"."""


def _named(said: str) -> str:
    """The name that a value is: Merlin of `glider "Merlin"`, kestrel-02, Violeta Ionescu."""
    if quoted := _QUOTED.fullmatch(said):
        return quoted["name"]
    return said if said[:1].isupper() or _CODE.fullmatch(said) or _MADE.fullmatch(said) else ""


def _headed(heading: str) -> str:
    """The name that a heading is or begins with."""
    heading = re.sub(r",\s+[a-z].*", "", _CLOCKED.sub("", heading))  # "Mr Rinne, discharged on Monday"
    heading = _STANDING.split(_about(heading) or heading, 1)[0]
    does = _DOES.fullmatch(heading)
    if does and (does["verb"] in words("irregular_verbs.txt") or does["verb"].endswith("ed")):
        return does["name"]
    return heading if _is_name(heading) and ":" not in heading else ""


def _about(said: str) -> str:
    """What an occasion is about: bay C of "Stock count bay C", Mill Farm of "Site visit at Mill Farm"."""
    for at, word in enumerate(said.lower().split()[:3]):
        if word in words("occasions.txt"):
            about = said.split()[at + 1 :]
            about = about[1:] if about and about[0] in PREPOSITIONS else about
            return _unbracketed(" ".join(about))[0].removeprefix("the ")
    return ""


def _thing(label: str) -> str:
    """The thing that a label names, by its own name or behind an occasion or a role; empty for an attribute."""
    if _NO_THING.search(label):
        return ""
    if about := _about(label):
        return about
    if of := _ROLE_OF.fullmatch(label):
        return of["thing"] if families().by_noun(of["role"].lower()) else label
    if titled := _TITLED.search(label):
        return titled.group()  # "Bed 6 Mrs Ivey"
    kind, _, name = label.partition(" ")
    if quoted := _QUOTED.fullmatch(label):
        return quoted["name"]
    if kind.lower().rstrip(".") in words("record_kinds.txt") and name[:1].isalpha() and name[:1].isupper():
        return name  # "Pupil Emil Sand"
    named = _is_numbered(label) if name else _has_name(label)
    return label if named and not families().by_noun(label.lower()) else ""


_NO_THING = re.compile(
    rf"^{ANY_WEEKDAY}\b|\d\s{MONTH}|{MONTH}\s\d|\d{{4}}-\d\d|\b(?:day|week|item|point|step|page|round|take) \d+$",
    re.I,
)
"""Days and places in a list, which are no things."""
_ROLE_OF = re.compile(
    r"(?P<role>[A-Z]?[a-z]+(?: [a-z]+)?) (?P<thing>(?!(?:ref|no|nr|id|number|code)\b)[a-z]+ (?=\w*\d)\w+)"
)
"""Whose or what's: "Tenant flat 2b", "Driver truck 14"."""
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.? [A-Z].*")


def _is_name(said: str) -> bool:
    return (
        bool(said)
        and len(said.split()) <= 8
        and (said[:1].isupper() or said[:1].isdigit())
        and not said.endswith("?")
    )


def _claims(field: Field, subject: str) -> list[Claim]:
    label, value, table = field.label, field.value.strip().rstrip("."), families()
    thing, inner = _thing(label), _OF.match(label)
    if label.lower() in words("telling_labels.txt"):
        return []
    if value.lower().startswith("not ") and " " not in label:
        return []  # "Pets: not allowed" is no pet
    if span := _SPAN.fullmatch(value):
        return _from_to(f"{subject}'s {label.lower()}" if subject else label, span, field)
    if PRICED.match(value) and not subject and len(label.split()) > 1:
        return _listed(label, field)
    if inner and any(w[0].isupper() for w in inner["noun"].split()[1:]) and not subject:
        return []  # "Baby Tilo on the scales"
    if inner and not _about(label) and (table.by_noun(inner["noun"].lower()) or not subject):
        known = table.by_noun(_singular(inner["noun"].lower())) or ", " not in value
        return _attribute(inner["thing"], inner["noun"], value, field) if known else []
    if label.endswith("ed") and value.startswith(subject or "?"):
        return _itself(label, value, field)
    on = _DATED.fullmatch(f"{label} {value}") if subject and not table.by_noun(label.lower()) else None
    if on:
        return [_on_day(subject, on, field)]
    if subject and (done := _DONE.fullmatch(label)):
        return [_done_by(subject, done, _unbracketed(value)[0], field)]
    if thing and thing != label and (of := _ROLE_OF.fullmatch(label)):
        return _attribute(thing, of["role"], value, field)
    held = label.lower().split()[-1] in words("holders.txt") and _COUNTED.match(value)
    if not subject and not thing and (held or _has_name(label)) and not table.by_noun(label.lower()):
        thing = label
    if thing:
        alone = thing != subject and len(field.items()) == 1
        rest = _parted(label, value, field) or _itself(label, value, field) if alone else []
        return _listed(thing, field) or rest
    if subject:
        return _attribute(subject, label, value, field)
    return _parted(label, value, field) or _itself(label, value, field)


_DATED = re.compile(
    r"(?P<what>(?:valid|runs|running|open|lasts) (?:until|till|to|from)|next due|due"
    rf"|[a-z]{{2,}}(?:s|ed|en|wn|id|ent|ught|pt|ld|lt))(?: on| by)? (?P<day>{_DAY.pattern})",
    re.I,
)
""" "due 15 December", "renewed on 1 May", "valid until 2027-05-01"."""


def _from_to(thing: str, span: re.Match[str], field: Field) -> list[Claim]:
    """ "Term: 1 May 2025 to 30 April 2026"."""
    told = [
        _DATED.fullmatch(f"{verb} {day}") for verb, day in zip(("starts", "ends"), span.groups(), strict=True)
    ]
    return [_on_day(thing, day, field) for day in told if day]


_NUMBERED_DAY = re.compile(r"\b\d\d?(?:st|nd|rd|th)?\b|\d{4}-\d\d-\d\d|" + ANY_WEEKDAY, re.I)


def _on_day(thing: str, said: re.Match[str], field: Field) -> Claim:
    """On which day something is done, or was done, with a thing, or until when it holds."""
    what, _, prep = said["what"].lower().partition(" ")
    holds, done = "one", False
    if prep and what != "next":
        phrase = f"{what if what.endswith('s') else f'is {what}'} {prep}"
    else:
        done = what not in ("due", "next") and not what.endswith("s")
        what = said["what"].lower()
        on = "on" if _NUMBERED_DAY.search(said["day"]) else "in"
        itself = not done or what in words("by_itself.txt")
        phrase = f"is {what}" if "due" in what else f"{what} {on}" if itself else f"was {what} {on}"
        prep, holds = "on", "many" if done else "one"
    claim = _claim(
        thing, phrase, predicate_key(what.split(), prep), said["day"].strip(), "date", field, holds
    )
    return replace(claim, event=done)


_DONE = re.compile(
    r"(?P<done>[A-Za-z]+(?:ed|en|wn|id|ent|old|ought|ept|eft)) (?P<prep>by|to|from|with|on|in|for|at)", re.I
)


def _done_by(subject: str, done: re.Match[str], value: str, field: Field) -> Claim:
    """ "Assigned to: Selma" under a ticket: what was done to it, by whom or to whom."""
    said, prep = done["done"].lower(), done["prep"].lower()
    phrase = f"{'is' if prep == 'to' else 'was'} {said} {prep}"
    return _claim(subject, phrase, predicate_key(["be", said], prep), value, "text", field, "one")


def _parted(label: str, value: str, field: Field) -> list[Claim]:
    """ "Lantern migration deadline": the thing, and the noun for what it has."""
    said, nouns = label.split(), families().nouns
    if (
        said[0].lower() in words("which_one.txt")
        or not PREPOSITIONS.isdisjoint(said)
        or label.lower() in nouns
        or ", " in _first(value)
    ):
        return []
    for at in range(1, len(said)):
        if (noun := " ".join(said[at:])) in nouns:
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
    if (
        not names
        or names[0].lower() in words("bearer_labels.txt")
        or names[-1].lower() in _IN_LABELS | {"since"}
    ):
        return []
    told = said.lower() in _NOTHING or len(said.split()) > 4 or re.search(r"[,!?]|\s[–—-]\s", said)
    sentence = any(w in stop() for w in said.lower().split()) or any(w.lower() in stop() for w in names)
    sentence = sentence and not _SCHEDULE.fullmatch(said)
    most = 5 if CONTACT.fullmatch(said) else 2
    if told or sentence or len(names) > most or any(w[0].isupper() for w in names[1:]):
        return []
    if label.endswith("ed") and len(names) == 1:  # "Resigned: Paula Stein"
        key = predicate_key([label], "")
        return [_claim(said, "has", key, label.lower(), "text", field, "many")] if " " in said else []
    return [_claim(label, "is", "|be", said, "text", field, "one")]


def _has_name(label: str) -> bool:
    """ "Class 4b", "Standard plan": a thing of its own rather than an attribute."""
    words_ = label.split()
    if len(words_) == 1:
        return any(c.isdigit() or c == "-" for c in label)
    return _is_numbered(label) or words_[0][0].isupper()


def _is_numbered(label: str) -> bool:
    """Whether a name or number stands behind the first word: "Class 4b", "Herb Garden"."""
    return any(w[0].isdigit() or w[0].isupper() for w in label.split()[1:])


def _listed(thing: str, field: Field) -> list[Claim]:
    """The items of "Class 4b: 23 pupils, 2 absent, teacher Ms. Iversen, room 108"."""
    first, *more = field.items()
    if name := _quoted(field):
        return [claim for part in more for claim in _of_a_thing(name, part)]
    if placed := _at_places(thing, [first, *more]):
        return placed
    found, counted = list[Claim](), ""
    for part in (first, *more):
        some = _SOME.fullmatch(part.value)
        found += _of_a_thing(thing, part, f"{part.value} {counted}" if some and counted else "")
        counted = part.value.partition(" ")[2] if _COUNTED.match(part.value) and not some else counted
    return found


_STOP = re.compile(r"(?P<place>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*),? (?P<time>\d\d?[:.]\d\d)")
_PERSONS = re.compile(r"(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w'’-]+(?: [A-Z][\w'’.-]+){0,2}")
_LINES = frozenset("bus train tram ferry boat coach shuttle line route".split())
_SEATS = {"table": "at", "desk": "at", "room": "in", "cabin": "in", "tent": "in", "group": "in", "team": "in"}


def _at_places(thing: str, parts: list[Field]) -> list[Claim]:
    """When a line calls where, and who sits at a table: "Bus 41: Lund 08:05, Ystad 08:20"; "Table 5: Mia, Tom"."""
    kind, found = thing.lower().split()[0], list[Claim]()
    prep = "at" if kind in _LINES and len(parts) > 1 else "" if thing[-1].islower() else _SEATS.get(kind, "")
    named = any(is_given_name(word) for part in parts for word in part.value.split()[:1])
    for part in parts if prep else ():
        key, who = predicate_key(["be"], prep), _unbracketed(part.value)[0].strip()
        if kind in _LINES and (stop := _STOP.fullmatch(part.value)):
            found.append(_claim(thing, f"is at {stop['place']} at", key, stop["time"], "text", part, "many"))
        elif kind not in _LINES and named and _PERSONS.fullmatch(who):
            found.append(_claim(who, f"is {prep}", key, thing, "text", part, "many"))
    return found if len(found) == len(parts) else []


_SOME = re.compile(r"\d+ (?:\w+ed|broken|missing|absent|empty|full|open|free|sick|late|new)")
"""Some of what was counted just before: "340 pallets, 12 damaged"."""


def _of_a_thing(thing: str, field: Field, said: str = "") -> list[Claim]:
    """What one item says of the thing."""
    if day := _DATED.fullmatch(field.value.rstrip(".")):
        return [_on_day(thing, day, field)]
    part = _SINCE.sub("", f" {said or _unbracketed(field.value)[0]}").strip()
    role = _ROLE_NAME.match(part)
    if (age := _YEARS.fullmatch(part)) and (not part.isdigit() or len(part) == 2):
        return [replace(_claim(thing, "is", "age", age["n"], "text", field, "one"), family="age")]
    being = _state(thing, part, field) or (None if _COUNTED.match(part) else _being(thing, part, field))
    if being is not None:
        return [being]
    if _COUNTED.match(part):
        amount = len(part.split()) == 2 and (
            part.split()[1].lower() in words("gauges.txt") or (len(part.split()[1]) < 4 and part[:2] != "1 ")
        )
        if amount or PRICED.match(part):
            return [_claim(thing, "is", "|be", part, "text", field, "one")]
        return [_claim(thing, "has", "owns", part, "text", field, "many")]
    if role and _is_role(role["role"], role["name"]):
        return _attribute(thing, role["role"], role["name"], field)
    if CONTACT.fullmatch(part):
        return _attribute(thing, "email" if "@" in part else "phone number", part, field)
    if PRICED.match(part):
        return _attribute(thing, "price", part, field)
    if (pair := _PAIR.match(part)) and pair["role"] in _things():
        return _attribute(thing, pair["role"], pair["name"], field)
    if on := _ON.fullmatch(part):
        return [_claim(thing, "is on", predicate_key(["be"], "on"), on["what"], "text", field, "many")]
    return []


_ON = re.compile(r"on (?P<what>[a-z][\w -]+?(?: [\d.]+ ?(?:mg|g|ml|mcg|units?)\b.*?)?)")


def _is_role(said: str, value: str) -> bool:
    """Whether what stands in front of a name or number says what that is to the thing."""
    if families().by_noun(said) or said in words("person_roles.txt"):
        return not re.search(r"\s[a-z]{3,}", value)
    if PRICED.fullmatch(value):
        value = value.split()[0]
    plain = said.isalpha() and said not in stop() and not said.endswith(("ed", "ing"))
    return (
        plain and said not in words("irregular_verbs.txt") and not re.search(rf"\s[a-z]{{3,}}|{_WHEN}", value)
    )


_WHEN = rf"^\d{{1,2}}[:.]\d\d|^\d{{4}}-\d\d\b|\b{MONTH}"
"""A day or a time of day, which is no value of a noun that nobody knows: "departs 14:05", "paid 3 June"."""


def _state(thing: str, said: str, field: Field) -> Claim | None:
    """ "allergic to eggs", "head office in Bristol" under a name: what it is, without "is"."""
    match = _STATE.match(said)
    if match is None or _BY.match(said):
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


_SINCE = re.compile(
    r",?\s+(?:since|(?:effective )?from|as of|effective|until|till)\s+"
    rf"(?:(?:\w+ )?[\w/.-]*\d.*|(?:last |next )?(?:{MONTH}|{ANY_WEEKDAY})|yesterday)$"
    r"|\s+at\s+\d\d?[:.]\d\d$",
    re.I,
)
"""Since when, until when or at what time a value holds; read.py makes dates of it."""


def _attribute(subject: str, label: str, value: str, field: Field) -> list[Claim]:
    noun, value = _singular(label.lower()), _SINCE.sub("", value)
    family = next((n.family for n in families().by_noun(noun)), None)
    if not value or value.lower() in _NOTHING or (family is None and len(_LIST.findall(value)) > 1):
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
        group = name.split()[-1:] and (
            name.split()[-1] in words("thing_kinds.txt") or name.split()[-1].istitle()
        )
        if found and CONTACT.fullmatch(name):  # "Enzo Rinaldi (brother), 555-0126"
            found += _of_a_thing(found[0].object, field, name)
            continue
        if not name[:1].isupper() and not group and not _HANDLE.fullmatch(name):
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
    named, phrase = value[:1].isupper(), "is due" if noun == "due" else f"'s {noun} is"
    if family is None:
        kind = "entity" if named else "text"
        return _claim(subject, phrase, predicate_key(noun.split(), "of"), value, kind, field, "one")
    whom = named and family.object in ("person", "place", "organisation")
    kind = "date" if family.object == "date" else "entity" if whom else "text"
    made = _claim(subject, phrase, family.name, value, kind, field, "many" if several else family.holds)
    return replace(made, family=family.name, fixed=not family.changes)


def _claim(subject: str, phrase: str, key: str, value: str, kind: str, field: Field, holds: str) -> Claim:
    return Claim(
        " ".join(subject.split()), phrase, key, value, kind=kind, holds=holds, definite=holds == "one",
        record=True, confidence=0.9, chars=(field.begin, field.end), matter=value.split()[-1].lower() if value else "",
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
