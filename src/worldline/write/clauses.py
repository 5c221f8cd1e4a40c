"""Cutting a message into sentences and clauses, each with its place and what surrounds it.

Decides where statements begin and end, which openers and asides carry a cue ("actually", "also"),
and which sentences only ask.  It does not look for facts.

    clauses("By the way, I've moved. Do you know Porto?") → "I have moved" and a question
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

MAX_SENTENCE = 400
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[\"'“‘(*]?[A-Z0-9#*-]|I\b)|\n+")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|Jr|Sr|Inc|No|a\.m|p\.m|U\.S)\.$|(?:^|\s)(?:[A-Z]\.)+$"
)
_CLAUSE_CUT = re.compile(
    r"\s*;\s+|\s+[–—]\s+|\s+-\s+|:\s+(?=I\b)|"
    r",?\s+(?:and|but|so|though|although|because|while|since|as|plus|yet)\s+(?=(?:I|we|my|our)(?:['’]|\b))|"
    r",\s+(?=(?:I|we|my|our|which I|and then I)(?:['’]|\b))|,\s+which\s+(?=(?:has|"
    r"have|is|was|gave|gives|really|helps?)\b)|"
    r"\s+when\s+(?=I\b)|,\s+(?:so|but)\s+|,?\s+(?:considering|given)\s+(?:that\s+)?(?=I\b)"
)
_CONTRACTIONS = (
    (re.compile(r"\b(I)['’]m\b"), r"\1 am"),
    (re.compile(r"\b(we|you|they)['’]re\b", re.I), r"\1 are"),
    (
        re.compile(r"\b(he|she|it|that|there|who|here)['’]s\b(?=\s+(?:been|got|had|gone|become))", re.I),
        r"\1 has",
    ),
    (re.compile(r"\b(he|she|it|that|there|who|here)['’]s\b", re.I), r"\1 is"),
    (re.compile(r"\b(I|we|you|they)['’]ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(I|we|you|they|he|she|it)['’]ll\b", re.I), r"\1 will"),
    (re.compile(r"\b(I|we|you|they|he|she|it)['’]d\b", re.I), r"\1 would"),
    (re.compile(r"\bcan['’]t\b", re.I), "can not"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (
        re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|would|could|should)n['’]t\b", re.I),
        r"\1 not",
    ),
)
_OPENER = re.compile(
    r"^(?:(?:by the way|btw|oh|well|so|and|but|anyway|also|actually|honestly|"
    r"speaking of (?:which|\w+)|yes|yeah|"
    r"yep|no|nope|hey|hi|hello|ok(?:ay)?|sure|thanks|thank you|haha|wow|lol|you know|to be honest|as for me|"
    r"in fact|plus|then|now|sorry|wait|correction|to correct myself|i mean|i think|i guess|i believe|"
    r"i just realized|i realized|i (?:am|'m) (?:happy|glad|proud|excited|pleased) "
    r"to (?:report|say|share|announce)|i have to say|i must say|just so you know|"
    r"fyi|for me|personally|"
    r"unfortunately|luckily|fortunately|sadly|of course|right now|currently|these "
    r"days|lately|recently|since(?= I| we)|because(?= I| we)|as(?= I\b))\b"
    r"(?:\s+that)?[,!.:\s-]*)+(?=\w)",
    re.I,
)


class Clause(msgspec.Struct, frozen=True):
    """One statement: plain words, the cues of its opener, and the characters it came from."""

    text: str
    opener: str
    begin: int
    end: int
    asks: bool
    alone: bool  # the whole message is this clause
    context: str = ""  # the clause before it, for "ones", "it", "them"


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text, as offsets."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if _ABBREVIATION.search(text[start : match.start()]):
            continue
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def clauses(text: str) -> list[Clause]:
    """Every clause of a message, in order."""
    found: list[Clause] = []
    for begin, end in sentences(text):
        sentence = text[begin:end]
        if len(sentence) > MAX_SENTENCE or _is_listing(sentence):
            continue
        asks = sentence.rstrip(" \"'”)").endswith("?")
        cuts = [0, *(m.end() for m in _CLAUSE_CUT.finditer(sentence))]
        ends = [*(m.start() for m in _CLAUSE_CUT.finditer(sentence)), len(sentence)]
        for a, b in zip(cuts, ends, strict=True):
            piece = sentence[a:b].strip()
            if len(piece) > 3:
                last = b == len(sentence)
                before = found[-1].text if found else ""
                made = _clause(piece, begin + a, begin + b, asks and last)
                found.append(msgspec.structs.replace(made, context=before))
    if len(found) == 1 and found[0].end - found[0].begin >= len(text.strip()) - 2:
        return [msgspec.structs.replace(found[0], alone=True)]
    return found


def _is_listing(sentence: str) -> bool:
    return bool(re.match(r"\s*(?:[-*•#>|]|\d+[.)]\s|```|https?://)", sentence))


def _clause(piece: str, begin: int, end: int, asks: bool) -> Clause:
    plain = piece.strip(' "“”*').rstrip(".!")
    for pattern, spelt in _CONTRACTIONS:
        plain = pattern.sub(spelt, plain)
    opener = _OPENER.match(plain)
    head = opener.group().lower() if opener else ""
    if opener:
        plain = plain[opener.end() :]
    return Clause(plain.strip(" ,"), head, begin, end, asks, False)
