"""One reading per message: claims, corrected values and cues, worked out once and kept with it.

Pure: the same text, speaker and time give the same reading, with no look at any store. It cuts the
text at lines, semicolons and dashes, reads records by grammar and sentences by the parser.

    read("I live in Porto now.", "Ana", said_at=…).claims → Ana lives in Porto
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from worldline.dates import DateSpan, find_dates
from worldline.lexicon import lines, words
from worldline.reading import parser
from worldline.reading.claim import CONTACT, PRICED, Claim, Cue, Cues, Rank, cues, is_somebody, leans, role_of
from worldline.reading.claims import Stated, claims_of
from worldline.reading.families import families, relation
from worldline.reading.fields import bracketed, claims_of_fields
from worldline.reading.mending import as_verb, mended, with_verb
from worldline.reading.parser import Token, Tree
from worldline.reading.whom import Said, Talk

MAX_TEXT = 6_000
LONGEST_SENTENCE = 90
"""Words of a sentence; nobody says more in one, and its tree would be guesswork."""
LONGEST_PIECE = 900
"""Characters that are parsed at once."""
RULES = "rules 19"
"""Changes whenever the same text would be read otherwise."""


_SAME_LENGTH = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " ", "–": "–"})


_RUNS = re.compile(r"([^\w\s])\1{3,}|(?:([^\w\s]) ?){8,}")
"""Signs without end, which say nothing."""


_NUMBERED = re.compile(r"\b(?P<no>[Nn]o)\.(?= ?[A-Z]{0,3}-?\d)")
"""The point of "no. 5", which ends no sentence."""
_EMOJI = re.compile(
    "(?<=[\\w)!?.])\\s?[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]+(?=\\s*(?:$|\\n|[A-Z]))"
)
"""A picture at the end of a sentence, which ends it."""


_ASKED_ALONG = re.compile(
    r"[,;]\s+(?:any |some |got any )?(?:[a-z]+ )?(?:ideas|tips|suggestions|thoughts|recommendations|advice)\b[^,?.!]*\?"
)
"""Asked behind what is told: "We moved to Lyon, any tips for a school?"."""


class Turning(Struct, frozen=True, omit_defaults=True):
    """A sentence that says something about change: where it stands, and what it says."""

    chars: tuple[int, int]
    cues: Cues


class Reading(Struct, frozen=True, omit_defaults=True):
    """What a message says, and who worked it out."""

    reader: str
    claims: tuple[Claim, ...] = ()
    corrects: bool = False
    """Whether it takes back something said before."""
    values: tuple[str, ...] = ()
    """The values in a text that corrects: "*D12, sorry" has D12."""
    cues: Cues = Cues()
    """What it says about change itself, all in all."""
    parts: tuple[Turning, ...] = ()
    """Where it has several sentences, those of them that may end something."""


def reader() -> str:
    """Who reads here: the parser, and the version of the rules."""
    return f"{parser.active() or 'records only'}, {RULES}"


_DAY_FIRST = re.compile(
    r"(?P<day>(?:^|(?<=[.!?;\n] ))(?:On|In|Since|By|From) (?:\d{1,2}(?:st|nd|rd|th)? (?:of )?)?"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)[a-z]*"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?) (?=[a-z])(?![a-z]+')"
)
"""A day in front of a sentence, whose comma was left out: "On 8 March forklift 2 struck the gate"."""
_GUESS = re.compile(
    r"\bguess who(?P<told>['’]s| (?:[^?.!\n]|\.\d){3,90})\?+(?: (?:our |my )?(?P<who>[A-Z][\w-]{0,8})[!.])?",
    re.I,
)


def _guessed(found: re.Match[str]) -> str:
    """ "Guess who got married? Me!" says that I did; the text keeps its length."""
    who = found["who"] or "I"
    who = "I" if who.lower() == "me" else who
    return f"{who}{found['told']}.".ljust(len(found.group()))


_OPENER = re.compile(
    r"^(?:correction[^:.]{0,60}:\s*)?(?:(?:" + "|".join(map(re.escape, lines("openers.txt"))) + r")"
    r"(?:\s*[,!.:;–—-]+\s*|\s+(?=(?:i|we|my|our|the|he|she|it)\b)))+",
    re.I,
)
_TASK = re.compile(
    r"^(?:please |can you |could you )?"
    r"(?:translate|rewrite|rephrase|summari[sz]e|proofread|correct|write|draft|say|repeat)\b[^:]{0,80}:", re.I,
)  # fmt: skip
_MOCKING = re.compile(
    r"^(?:yeah,? (?:right|sure)|as if|oh,? (?:great|joy|brilliant|lovely),? (?:another|just))\b[^.!?\n]*[.!?]*\s*",
    re.I,
)
"""A sentence that means the opposite."""
_HEADED = re.compile(r"^[A-Z][\w-]*(?: [\w-]+){0,2}:\s+(?=[A-Z\w])")
_CODED = re.compile(r"\s*(?P<code>[A-Z]{2,}-?\d+)\s?[:–—-]\s")
"""The code of what a note is about: "INC-2207: printer offline"."""
_VOCATIVE = re.compile(
    r"^(?:(?:(?:hi|hey|hello|dear|thanks)\s+)?[^\W\d_]+,\s+(?=(?:i|we|you|your|can|could|are|did|do|does|please|it|this|that)\b"
    r"|(?:my|our|the) (?![^,.;!?]{2,70}, ))|(?:hi|hey|hello|dear)\s+[^\W\d_]+,\s+)",
    re.I,
)
""" "Marko, my shift is over", but not "Marko, my dentist, has moved"."""
_CANNOT = re.compile(
    r"^(?:can't|cannot|sorry|no can do|will do|done|agreed|deal|perfect|lol|haha|ugh|argh|yay|phew)[,.!;:]+\s+",
    re.I,
)
_CLOCKED = re.compile(r"^\d{1,2}[:.]\d\d(?::\d\d)?\s+(?=[a-z]|[A-Z][\w-]+ )")
_CUT = re.compile(
    r"(?:\n|;\s|:\s(?=(?:I|we|he|she|it|they|you|my|our|the)\b)|(?<=\s)(?:[–—]|--)\s|…\s|\.\.\.\s)\s*"
)
_AND_ANOTHER = re.compile(
    r",?\s+and\s+(?=(?:the|my|our|his|her|its|their|your) (?:[a-z][a-z'’-]* ){1,3}(?:is|was|has|costs|lives|works) )"
)
"""Where a second statement begins, of which the parser makes one more of what the first names:
"My landlord is Mr. Adeyemi and the rent is 980 a month"."""
_DEPENDENT = re.compile(
    r"\b(?:if|when|whether|unless|until|while|that|because|since|as|though|hope|wish|think|says?|said|told|heard|imagine|"
    r"suppose|wonder|ask\w*|would|could|might)\b|[?\"“”]", re.I,
)  # fmt: skip
_SENTENCE_ENDS = re.compile(r"(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bDr)(?<!\bSt)[.!?]\s|[\n:;]")
_SINGULAR = re.compile(
    r"\b(?:is|was|has|costs|lives|works|called|named|went|got|moved|comes)\b|['’]s (?!\w+ and\b)"
)


def _stands_alone(text: str, at: int) -> bool:
    """Whether the sentence up to here is a statement of its own, on which nothing behind it hangs."""
    begin = max((m.end() for m in _SENTENCE_ENDS.finditer(text, 0, at)), default=0)
    end = next((i for i in range(at, len(text)) if text[i] in ".!?\n"), len(text) - 1)
    front = text[begin:at]
    return bool(_SINGULAR.search(front)) and not _DEPENDENT.search(front) and text[end : end + 1] != "?"


_BULLET = re.compile(r"^\s*(?:[-*•>]+|\d+[.)])\s+")
_PATTERNS = tuple(line for line in lines("correction_cues.txt") if re.search(r"[^\w ,'-]", line))
_PLAIN = tuple(sorted(set(lines("correction_cues.txt")) - set(_PATTERNS)))
_CORRECTS = re.compile(
    r"\b(?:" + "|".join(_PATTERNS) + r")\b"
    r"|^\s*\*|\bit(?:'s| is| was) [^,.;]{1,40}, not\b",
    re.I,
)
_FRAGMENT = re.compile(
    r"^\W*(?:(?:oops|whoops|sorry|wait|no|ah|oh|actually|correction|i (?:meant|mean)|make that|that should (?:be|read)|"
    r"it(?:'s| is| was)|should (?:be|read)|of course|typo|that was wrong|my (?:mistake|bad))[,:;. !-]*)+"
    r"(?:that was a typo[,:;. ]*)?(?P<new>[^,;!?]{1,40}?)(?:,? not (?P<old>[^,;.!?]{1,40}))?(?:[.!]?$|[,;.!] )"
    r"|^\*\s*(?P<star>[^,;!?]{1,40}?)(?:[.!,]|$)"
    r"|\b(?:it's|it is|right one is|should (?:be|read)|meant) (?P<last>[^,;!?]{1,40}?)[.!]?$",
    re.I,
)


def _takes_back(said: str) -> bool:
    """Whether something is said to have been wrong; hundreds of plain wordings are found faster one by one."""
    low = said.lower()
    plain = any(re.search(rf"\b{line}\b", low) for line in _PLAIN if line in low)
    return plain or bool(_CORRECTS.search(said))


_FENCED = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.S)
"""Code that is shown states nothing."""


class ToRead(Struct, frozen=True):
    """A message to be read: who says it, to whom, when."""

    text: str
    speaker: str = ""
    addressee: str = ""
    said_at: datetime | None = None


def read(
    text: str, speaker: str = "", addressee: str = "", said_at: datetime | None = None, *, rank: Rank = "user"
) -> Reading:
    """What a message says; `rank` is the authority of the speaker's own words."""
    return read_all([ToRead(text, speaker, addressee, said_at)], rank=rank)[0]


def read_all(told: Sequence[ToRead], *, rank: Rank = "user") -> list[Reading]:
    """The same of many messages, each by itself; parsed together, which takes half the time."""
    halves = [_half_read(each) for each in told]
    trees = iter(parser.parse([piece for half in halves for _, piece in half.pieces]))
    return [_read(half, [next(trees) for _ in half.pieces], rank) for half in halves]


class _HalfRead(Struct, frozen=True):
    """A message before it is parsed: the claims of its records, the pieces of the rest, the days of its lines."""

    told: ToRead
    body: str
    corrects: bool
    records: list[Claim]
    topic: str
    pieces: list[tuple[int, str]]
    days: list[tuple[DateSpan, DateSpan]]


def _half_read(told: ToRead) -> _HalfRead:
    body = _FENCED.sub(lambda m: ".".ljust(len(m.group())), told.text[:MAX_TEXT])
    body = _RUNS.sub(lambda m: " " * len(m.group()), body.translate(_SAME_LENGTH))
    body = _NUMBERED.sub(r"\g<no> ", body)
    body = _EMOJI.sub(lambda m: ".".ljust(len(m.group())), body)
    body = _ASKED_ALONG.sub(lambda m: ".".ljust(len(m.group())), body)
    body = _DAY_FIRST.sub(r"\g<day>,", body)
    body = _repaired(body)
    corrects = _takes_back(body[:400])
    known, body = bracketed(_GUESS.sub(_guessed, body))
    days, undated = _days_of_lines(body, told.said_at)
    found, rest, topic = _record(undated, told.said_at)
    coded = _CODED.match(body)
    topic = topic or (coded["code"] if coded else "")
    return _HalfRead(told, body, corrects, found + known, topic, _pieces(rest), days)


_DAY_HEAD = re.compile(r"^[^\w\n]*(?:[A-Z][a-z]+ )?(?P<day>[^:\n]{3,30}?)\]?(?::\s|\s[–—-]\s)", re.M)


def _days_of_lines(text: str, said_at: datetime | None) -> tuple[list[tuple[DateSpan, DateSpan]], str]:
    """The day in front of a line ("3 May: oil changed", "Result 4 May: Rovers beat Start") as the day of the whole
    line, the nearest such and the last; and the text without it."""
    found = list[tuple[DateSpan, DateSpan]]()
    for head in _DAY_HEAD.finditer(text) if said_at else ():
        assert said_at is not None
        near, past = find_dates(head["day"], said_at), find_dates(head["day"], said_at, tense="past")
        if [(s.text, s.precision) for s in near] == [(head["day"], "day")]:
            end = text.find("\n", head.end())
            line = (head.start(), end if end > 0 else len(text))
            found.append((replace(near[0], chars=line), past[0]))
            text = f"{text[: head.start()]}{' ' * len(head.group())}{text[head.end() :]}"
    return found, text


def _on_its_day(claim: Claim, days: Sequence[tuple[DateSpan, DateSpan]]) -> Claim:
    """A claim without a date, on the day of its line."""
    for near, past in days:
        if near.chars[0] <= claim.chars[0] < near.chars[1] and claim.valid_from is None and not claim.fixed:
            day = past if claim.event else near
            return replace(claim, valid_from=day.start, precision=day.precision)
    return claim


_UNITS = frozenset("mg g kg ml mm cm km am pm".split())


def _is_amount(claim: Claim) -> bool:
    """ "Ramipril 5 mg stopped" says nothing of 5 mg; "I run 5 km" tells who runs them."""
    unit = claim.subject.lstrip("0123456789., ")
    return unit in _UNITS and (unit == claim.subject or not claim.family)


_SLIP = re.compile(
    r"(?<!\s)(?:\s*[,;–—-]+\s*|\s*(?:\.\.\.|…)\s*)(?i:(?:oh |ah |er |uh |um )?(?:no,? wait|wait,? no|no,? sorry"
    r"|sorry,? no|sorry|no|scratch that|or rather|i mean|i meant|make that|correction)[,:]? "
    r"(?:i mean,? |make that |it's )?)"
    r"(?P<new>(?P<prep>(?:on|in|at|for|to|from|by) )?(?:the )?"
    r"(?P<value>[€$£]?\d|[A-Z](?=\w+(?:[,.;!?]|$| (?:and|in|on|at|the|of)\b))))"
)
_SAID_FIRST = re.compile(
    r"(?:the )?(?:(?P<amount>[€$£]?\d[\w:.,%]*(?: (?!on\b|in\b|at\b)[a-z]+)?)"
    r"|[A-Z]\w+(?: (?:the )?\d\w*)?(?: [A-Z]\w+)?)$"
)
"""What was said before it was taken back."""


def _repaired(text: str) -> str:
    """ "It's on the 4th, no wait, the 5th of June" says the 5th; the text keeps its length."""
    for slip in reversed(list(_SLIP.finditer(text))):
        old = _SAID_FIRST.search(text, max(0, slip.start() - 40), slip.start())
        if old is None or (old["amount"] is None) != slip["value"].isalpha():
            continue
        begin, prep = old.start(), slip["prep"] or ""
        if prep and text[:begin].endswith(prep):
            begin -= len(prep)
        text = f"{text[:begin]}{' ' * (slip.start('new') - begin)}{text[slip.start('new') :]}"
    return text


def _read(half: _HalfRead, trees: Sequence[list[list[Token]]], rank: Rank) -> Reading:
    body, corrects, said_at, speaker = half.body, half.corrects, half.told.said_at, half.told.speaker
    talk = Talk(speaker, half.told.addressee, topic=half.topic, thing=half.topic, names=[], named={})
    said, stated = _talk(zip(half.pieces, trees, strict=True), talk, said_at)
    found = [_on_its_day(_of_mine(c, speaker), half.days) for c in half.records + said]
    bare = _bare_record(body, said_at)
    told = any(c.effect != "holds" or c.negated or c.cue for c in found) or any(s.unsure for s in stated)
    if bare is not None and not told and (not found or role_of(speaker) == "user"):
        found = [bare]
    found = [c for c in found if _REDACTED not in f"{c.subject} {c.object}" and not _is_amount(c)]
    if corrects:
        found = [c for c in found if c.key not in _SAID] if not body.lstrip().startswith("*") else []
    cue: Cue = "correction" if corrects else ""
    claims = [_as_reading(_meant(_marked(_of_parents(c), cue, rank), body)) for c in found]
    fragment = _fragment(body) if corrects and not claims else ""
    values = (
        tuple(dict.fromkeys([*([fragment] if fragment else []), *_values(body, said_at)])) if corrects else ()
    )
    signs = cues(
        [t for s in stated for t in s.tokens], _kinds(body, said_at), [m for s in stated for m in s.moved]
    )
    if signs.passing or signs.adds:
        claims = [
            replace(c, cue="adds")
            if c.cue in ("", "closes") and c.effect == "holds" and not _is_timed(c)
            else c
            for c in claims
        ]
    parts = _parts(body, said_at, stated) if signs.may_end and len(stated) > 1 else ()
    if not parts and len(stated) > 1:
        signs = replace(signs, states=False, moved=())  # of no sentence by itself
    return Reading(reader(), tuple(claims), corrects, values, signs, parts)


def _is_timed(claim: Claim) -> bool:
    """ "open until six": until when is what it tells, not for how long that is so."""
    family = families().all.get(claim.key)
    return family is not None and family.object == "time"


def _parts(body: str, said_at: datetime | None, stated: Sequence[Stated]) -> tuple[Turning, ...]:
    """The sentences that may end something, each with what it speaks of: what it leans on stands in the one before."""
    signs = [cues(s.tokens, _kinds(body[s.chars[0] : s.chars[1]], said_at), s.moved) for s in stated]
    found = []
    for at, (one, own) in enumerate(zip(stated, signs, strict=True)):
        on = signs[at - 1] if at else Cues()
        if own.may_end:
            found.append(Turning(one.chars, _leaning(own, on) if leans(one.tokens) else own))
    return tuple(found)


def _leaning(own: Cues, on: Cues) -> Cues:
    stems, names = dict.fromkeys([*own.stems, *on.stems]), dict.fromkeys([*own.names, *on.names])
    return replace(own, stems=tuple(stems), names=tuple(names))


_REDACTED = "[redacted"
"""How a text says that a secret was taken out of it: nothing is known of that."""
_VALUE = re.compile(
    r"[$€£¥]?\d(?:[\d,.:]*\d)?(?:\s?(?:%|°C|[a-z]{1,2}\b|kilos?|euros?|dollars?|pounds?|minutes?|hours?|days?|weeks?|years?|percent|francs?))?"
    r"|(?<=[a-z,:] )(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? |[A-Z]\. ?)*[A-Z][\w'-]+(?: [A-Z][\w'-]+)*"
)


def _values(text: str, said_at: datetime | None) -> list[str]:
    """What may stand in the place of a value said before: dates, amounts and names, the last ones first."""
    dates = [span.text for span in find_dates(text, said_at)] if said_at else []
    found = [
        m.group().strip() for m in _VALUE.finditer(text) if not any(m.group().strip() in d for d in dates)
    ]
    return [*reversed(dates), *reversed([v for v in found if v not in ("I", "I'm")])][:4]


def _kinds(text: str, said_at: datetime | None) -> list[str]:
    """The kinds of values that a text states."""
    found = ["money"] if PRICED.search(text) else []
    found += ["number"] if re.search(r"\d", text) else []
    found += ["contact"] if CONTACT.search(text) else []
    return found + (["date"] if said_at and find_dates(text, said_at) else [])


_SAID = frozenset({"means", "was means", "did mean|", "did type|", "did write|", "did say|", "mean|"})
"""Slots of what somebody meant to say: the value behind it corrects another."""


def _marked(claim: Claim, cue: Cue, rank: Rank) -> Claim:
    return replace(claim, rank=rank, cue=cue if cue and claim.cue not in ("ends",) else claim.cue)


def _may_have(body: str, said: str) -> bool:
    """Whether words may stand in a text, in whatever case: a pattern of its own for each claim costs more to make."""
    return not (body.isascii() and said.isascii()) or said.lower() in body.lower()


def _meant(claim: Claim, body: str) -> Claim:
    """The claim with whether it speaks of the one thing that is meant; "a van" may be any."""
    thing = claim.object.rpartition("'s ")[2]
    only = "'s " in claim.object or (
        _may_have(body, f"the {thing}") and re.search(rf"\bthe {re.escape(thing)}", body, re.I) is not None
    )
    if not thing or claim.kind not in ("text", "entity"):
        return claim
    now = claim.effect == "holds" and not claim.cue and not claim.event and not claim.negated
    now = now and f"{thing} now" in body
    now = now and re.search(rf"\b{re.escape(thing)} now\b(?! and)", body) is not None
    return replace(claim, only=only, cue="closes" if now else claim.cue)


_GAUGED = re.compile(r"[~≈]?[-−]?\d[\d,.]*\s?(?P<unit>\S*)(?: (?:today|now))?")


def _as_reading(claim: Claim) -> Claim:
    """What is read off something ("greenhouse 11.4 °C") stands beside earlier readings of it."""
    if claim.holds != "one" or claim.family or not claim.predicate.endswith("is"):
        return claim
    gauged = _GAUGED.fullmatch(claim.object)
    noun = (
        claim.predicate.removesuffix(" is") or claim.subject if "'s" in claim.predicate else claim.subject
    ).split()
    if gauged is None or not {gauged["unit"].lower(), noun[-1].lower()} & words("gauges.txt"):
        return claim
    return replace(claim, holds="series")


def _fragment(text: str) -> str:
    match = _FRAGMENT.search(text.strip())
    return (match["new"] or match["star"] or match["last"]).strip(" *.\"'") if match else ""


# Records ----------------------------------------------------------------------------------------------


_MAY_BE_RECORD = re.compile(r"[:=\d]|\A[^,\n]*”[^,\n ]*,[^,]+,")


def _record(text: str, said_at: datetime | None) -> tuple[list[Claim], str, str]:
    """The claims of the fields in a text, with the dates that they state; the text without them; of whom."""
    if not _MAY_BE_RECORD.search(text):
        return [], text, ""
    claims, rest, subject = claims_of_fields(text)
    return [_dated_record(c, text, said_at) for c in claims], rest, subject


_NOT_A_RECORD = re.compile(
    r"[?!\n;]|^i\b|\b(?:we|you|he|she|they|my|our|your|me|us|him|them|that's|it's)\b"
    r"|\bI (?:am|was|have|had|do|did|will|can|think|love|like|[a-z]+ed)\b|\bI['’](?:m|ve|ll|d)\b"
    r"|^(?:My|Our|Your|His|Her|Their) |^(?:It|This|That|There|He|She|They|We|You|What|Who|Which|"
    r"Where|When|How|So|Yes|No) [a-z]|^(?:There|Here|It|That)['’]s "
    r"|^(?:As of|Since|From|After|Before|Until|With|Instead|Now|Then|Today|Yesterday|In|On|At) "
    r"|^(?:Please|Let|Tell|Give|Write|Suggest|Help|Show|List)\b [a-z]"
    r"|^(?:Hey|Hi|Hello|Oh|Wow|Thanks|Thank|Cool|Well|Okay|Ok)\b[^,]{0,20},"
)
_SECOND = re.compile(r"(?<![A-Z])(?<!Jr)(?<!Sr)(?<!St)(?<!Dr)(?<!Mr)(?<!Ms)(?<!Mrs)[.!?]\s+[A-Z]")
"""Where a second sentence begins."""
_RUN_ON = re.compile(r"\b(?:is|are|was|were|can|will)\s+[a-z]")


def _of_mine(claim: Claim, speaker: str) -> Claim:
    """ "New number: 555 0142", said by somebody, is that of whoever says it."""
    if not is_somebody(speaker) or claim.subject.lower() not in ("new", "current", "latest"):
        return claim
    return replace(claim, subject=speaker, cue=claim.cue or "closes", of_speaker=True)


def _of_parents(claim: Claim) -> Claim:
    """ "My mom" and "my mother" are one: whoever there can be only one of goes by one word."""
    owner, _, role = claim.subject.rpartition("'s ")
    found = families().by_noun(role.lower()) if owner else ()
    only = next((n.family for n in found if n.family.bond == "kin" and n.family.holds == "one"), None)
    return claim if only is None else replace(claim, subject=f"{owner}'s {only.nouns[0]}")


def _bare_record(text: str, said_at: datetime | None) -> Claim | None:
    """The claim of a message that is nothing but one relation between two named things, titles and all."""
    line = text.strip()
    if len(line) > 240 or _NOT_A_RECORD.search(line) or _SECOND.search(line) or _TASK.match(line):
        return None
    claim = relation(line)
    if claim is None or not claim.record or claim.key in ("|be", "|a", "|") or _RUN_ON.search(claim.subject):
        return None
    if claim.subject.endswith(("'s", "’s")):
        return None  # "Neil's called Bob"
    if not (claim.types or (claim.object[0].isupper() and claim.subject[0].isupper())):
        return None
    if said_at is not None and find_dates(claim.object, said_at):
        return None
    begin = text.find(line)
    return replace(claim, chars=(begin, begin + len(line)))


_TAKEN = re.compile(r"\((?:[a-z]+(?:ed|en) )?(?:on |in )?$")
"""In front of the day of a reading: "depth 4.1 m (taken 3 May)"."""


_TO_COME = re.compile(
    r"^(?:is (?:next )?due|is valid|runs|lasts|expires|ends|closes|ships|arrives|departs)\b"
)


def _dated_record(claim: Claim, text: str, said_at: datetime | None) -> Claim:
    """The date that a field states, as its value or behind it: "Owner: Ana Roth since May"."""
    if said_at is None:
        return claim
    still = claim.kind == "date" and not claim.family and _TO_COME.search(claim.predicate) is not None
    tense: Literal["past", "future", ""] = "past" if claim.event else "future" if still else ""
    if claim.kind in ("date", "text") and (spans := find_dates(claim.object, said_at, tense=tense)):
        return replace(claim, valid_from=spans[0].start, precision=spans[0].precision, kind="date")
    said = text[slice(*claim.chars)]
    said = said.replace(" changed: ", " change:  ")  # the day of a change may lie ahead
    for span in find_dates(said, said_at):
        if span.role == "end" or span.role == "range":
            claim = replace(claim, valid_to=span.end)
        own = ": " in said[span.chars[1] :]  # "Level on 3 May: 3 m"
        if span.role in ("start", "range") or own or _TAKEN.search(said[: span.chars[0]]):
            claim = replace(
                claim, valid_from=span.start, precision=span.precision, begins=span.role == "start"
            )
    return claim


# Sentences ----------------------------------------------------------------------------------------------


def _talk(
    pieces: Iterable[tuple[tuple[int, str], list[list[Token]]]],
    talk: Talk,
    said_at: datetime | None,
) -> tuple[list[Claim], list[Stated]]:
    found: list[Claim] = []
    stated: list[Stated] = []
    for (begin, piece), sentences in pieces:
        for tokens in sentences:
            if not tokens or len(tokens) > LONGEST_SENTENCE:
                continue
            start, end = tokens[0].begin, tokens[-1].end
            tokens = _with_its_verb(_with_its_be(tokens, piece), piece)
            tree = Tree(mended(tokens), piece[start:end])
            claims, states = claims_of(Said(tree, begin, said_at), talk)
            found += claims
            stated.append(states)
    return found, stated


def _with_its_be(tokens: list[Token], piece: str) -> list[Token]:
    """A sentence without a verb whose "'s" must be one, parsed again: "Ollie's allergic to eggs"."""
    if any(t.tag in _FINITE for t in tokens):
        return tokens
    for place, token in enumerate(tokens[:-1]):
        if token.dep == "case" and token.low in ("'s", "’s") and tokens[place + 1].pos != "VERB":
            found = _parsed_with_is(tokens, place, piece)
            if found:
                return found
    return tokens


def _parsed_with_is(tokens: list[Token], place: int, piece: str) -> list[Token]:
    short, start, end = tokens[place], tokens[0].begin, tokens[-1].end
    said = f"{piece[start : short.begin]} is{piece[short.end : end]}"
    again = [s for s in parser.parse([said])[0] if s]
    if len(again) != 1 or len(again[0]) != len(tokens) or not _is_said_of(again[0], place):
        return []
    longer = len(" is") - len(short.text)
    moved = [replace(t, begin=t.begin + start, end=t.end + start) for t in again[0]]
    return [
        replace(t, begin=old.begin, end=old.end) if i == place else
        replace(t, begin=t.begin - longer, end=t.end - longer) if i > place else t
        for i, (t, old) in enumerate(zip(moved, tokens, strict=True))
    ]  # fmt: skip


_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD", "VB"})


def _is_said_of(tokens: Sequence[Token], place: int) -> bool:
    """Whether "is" joins something to what is said of it; "Rosa's new car!" has none."""
    after = tokens[place + 1]
    what = next((t for t in tokens[place + 1 :] if t.dep == "attr" and t.pos in ("NOUN", "PROPN")), None)
    bare = what is not None and not any(t.dep in ("det", "poss") for t in tokens[place + 1 :])
    return after.pos in ("ADJ", "VERB", "ADV", "ADP", "DET", "PRON", "PART", "NUM", "SYM") and not bare


def _with_its_verb(tokens: list[Token], piece: str) -> list[Token]:
    """A sentence without a verb, parsed again where one of its words must be one."""
    found = as_verb(tokens, families().verbs)
    if found is None:
        return tokens
    place, instead = found
    verb, start, end = tokens[place], tokens[0].begin, tokens[-1].end
    said = f"{piece[start : verb.begin]}{instead}{piece[verb.end : end]}"
    again = [s for s in parser.parse([said])[0] if s]
    if len(again) != 1:
        return tokens
    moved = [replace(t, begin=t.begin + start, end=t.end + start) for t in again[0]]
    return with_verb(verb, instead, moved) or tokens


def _pieces(text: str) -> list[tuple[int, str]]:
    """Stretches of text to parse, with their places: lines and parts of lines, openers taken off."""
    found: list[tuple[int, str]] = []
    at = 0
    cuts = [m.span() for m in _CUT.finditer(text)]
    cuts += [m.span() for m in _AND_ANOTHER.finditer(text) if _stands_alone(text, m.start())]
    for start, end in (*sorted(cuts), (len(text), len(text))):
        if text[start:end].strip() == ":" and _TASK.match(text[at:end]):
            continue  # what stands behind the colon is to be translated
        piece, begin = text[at:start].rstrip(), at
        at = end
        if bullet := _BULLET.match(piece):
            piece, begin = piece[bullet.end() :], begin + bullet.end()
        begin, piece = _opened(begin, piece)
        while len(piece) > LONGEST_PIECE:
            cut = max(piece.rfind(". ", 0, LONGEST_PIECE), piece.rfind(" ", 0, LONGEST_PIECE // 2)) + 1
            cut = cut or LONGEST_PIECE
            found.append((begin, piece[:cut]))
            begin, piece = begin + cut, piece[cut:]
        if piece.strip():
            found.append((begin, piece))
    return found


def _opened(begin: int, piece: str) -> tuple[int, str]:
    """A piece without greeting, label and the name of whom it speaks to."""
    begin, piece = begin + len(piece) - len(piece.lstrip(" ,")), piece.lstrip(" ,")
    if _TASK.match(piece):
        return begin, ""
    if mocking := _MOCKING.match(piece):
        begin, piece = begin + mocking.end(), piece[mocking.end() :]
    for opener in (_CLOCKED, _VOCATIVE, _OPENER, _CANNOT, _HEADED, _VOCATIVE, _OPENER):
        if found := opener.match(piece):
            begin, piece = begin + found.end(), piece[found.end() :]
            if opener is _CLOCKED:
                piece = f"{piece[0].upper()}{piece[1:]}"  # "03:12 pump 4 tripped"
    return begin, piece
