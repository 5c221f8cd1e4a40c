"""Causes: which part of a text is said to have brought about which other part.

It decides two spans, cause and effect, each a short clause in the text's own words; not whether the
one really caused the other. What is denied, supposed, asked or said in general ("stress can lead to
…") states no cause.

>>> text = "We moved to Oslo because I got a job there."
>>> [(text[slice(*one.cause)], text[slice(*one.effect)]) for one in causes(text)]
[('I got a job there', 'We moved to Oslo')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from worldline.rules.sentences import only_asks, sentences
from worldline.text import content_words

LONGEST = 8000
"""Characters of a text that are read."""
LONGEST_CLAUSE, SHORTEST_CLAUSE = 200, 6
Span = tuple[int, int]


class Cause(Struct, frozen=True):
    """That one clause of a text is said to have brought about another; `cue` are the words that say so."""

    cause: Span
    effect: Span
    cue: str
    weight: float


class _Rule(Struct, frozen=True):
    pattern: re.Pattern[str]
    weight: float
    before: bool = False
    """The sentence before is the missing side: "I lost my job. That's why we moved." """


_MOVED = (
    "made|inspired|encouraged|pushed|motivated|convinced|prompted|forced|led|drove|got|allowed|enabled|taught|"
    "persuaded|compelled"
)
_HEY = r"^(?:(?:and|so|but|well|oh|yeah|yes),? )*"
_IS = r"(?:['’]s| is| was)(?: \w+)?"
_THROUGH = (
    "because of|due to(?! (?:arrive|leave|start|begin|open|close|end|finish|expire|be|return|land|depart|give)\\b)|"
    "thanks to|owing to|as a (?:result|consequence) of|on account of"
)
_HENCE = "as a result|as a consequence|consequently|therefore"
_PAUSE = r"(?:,|;| [–—-])"
_ME = r"(?:me|us|him|her|them|my \w+|our \w+|(?-i:[A-Z][a-z]+))"
_TO_DO = (
    r"(?:to |into |wanna |want |realize|realise|decide|think|feel|start|stop|quit|see|appreciate|reconsider|"
    r"change|leave|move|do\b)"
)


def _rule(pattern: str, weight: float, *, before: bool = False) -> _Rule:
    """A rule from a pattern in which a blank is any space; (c) and (e) are cause and effect."""
    named = (
        pattern.replace("(c)", r"(?P<c>.+?)").replace("(e)", r"(?P<e>.+?)").replace("(c,)", r"(?P<c>[^,]+)")
    )
    return _Rule(re.compile(f"{named}$".replace(" ", r"\s+"), re.I), weight, before)


_RULES = (
    # cause first, by a verb
    _rule("^(c),? (?P<cue>led to|led directly to|resulted in|brought about|gave rise to|caused(?! by)) (e)", 0.9),
    _rule(r"^(e),? (?P<cue>(?:was|were|is|are|been) (?:\w+ly )?(?:caused|triggered|brought on|prompted|motivated|"
          "inspired) by) (c)", 0.8),
    # the reason is …
    _rule(r"^(c)(?P<cue>(?: is| was| are| were|['’]s|['’]re) (?:the|one|a|another) (?:\w+ )?reasons? "
          "(?:why|behind|for|that)) (e)", 0.9),
    _rule(_HEY + r"(?:the|my|our|his|her|one|another) (?:\w+ )?reason (?:(?:that|why|for) )?(e) "
          "(?P<cue>(?:is|was) (?:that|because|to|the|my|how)) (c)", 0.9),
    # because and its kin
    _rule(f"{_HEY}(?P<cue>{_THROUGH}) (c,), (e)", 0.9),
    _rule(f"{_HEY}(?P<cue>because) (c,), (e)", 1.0),
    _rule(f"{_HEY}(?:that|this|it){_IS} (?P<cue>because|{_THROUGH}) (c)", 0.9, before=True),
    _rule("^(e),? (?:(?:mainly|mostly|partly|simply|largely|only|all|probably) )?"
          f"(?P<cue>{_THROUGH}|because) (c)", 1.0),
    # effect second
    _rule(f"^(c){_PAUSE} (?P<cue>(?:which|that|and that){_IS} (?:why|the reason(?: why)?)) (e)", 1.0),
    _rule(f"{_HEY}(?P<cue>(?:that|this){_IS} (?:why|the reason(?: why)?)) (e)", 1.0, before=True),
    _rule(f"{_HEY}(?P<cue>{_HENCE}|(?:{_THROUGH}) (?:that|this|it)),? (e)", 0.9, before=True),
    _rule(f"^(c){_PAUSE} (?P<cue>(?:and )?(?:{_HENCE}|hence|thus)),? (e)", 0.9),
    _rule(f"^(c){_PAUSE} (?P<cue>so) (?P<e>(?:(?:now|then|finally|instead|today|eventually) )?"
          r"(?:I|we|he|she|they|my|our|it|(?-i:[A-Z][a-z]+))(?:['’]\w+)? .+)", 0.7),
    # somebody was moved to do something
    _rule(rf"^(c) (?:(?:has|have|had|really|also|even|just|actually|finally) )*(?P<cue>{_MOVED}) "
          rf"(?P<e>{_ME} {_TO_DO}\w*.*)", 0.7),
    _rule("^(e) (?P<cue>(?:after being )?(?:inspired|motivated) by) (c)", 0.7),
    # Chinese
    _rule("^(?P<cue>因为|由于)(?P<c>[^，,]+)[，,](?:所以|因此|于是)?(e)", 1.0),
    _rule("^(?P<e>[^，,]+)[，,]?(?P<cue>是因为|因为)(c)", 1.0),
    _rule("^(?P<c>[^，,]+)[，,](?P<cue>所以|因此|于是|导致)(e)", 0.9),
)  # fmt: skip
_CUE = re.compile(
    r"\b(?:because|due to|thanks to|owing to|result|consequence|consequently|account of|led|resulted|brought|rise to|"
    rf"caused|causing|triggered|prompted|reason|why|therefore|hence|thus|so|by|{_MOVED})\b|因为|由于|所以|因此|于是|导致",
    re.I,
)
_DENIED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bhardly)(?:\s+\w+){0,1}\s*(?:,\s*)?$|\bjust$|\beither$|\bit['’]s\s+not\b.{0,20}$",
    re.I,
)
_DENIED_ALTOGETHER = re.compile(
    r"\bnot\s+(?:just\s+|only\s+|simply\s+)?because\b|\bjust because\b|"
    r"(?:did|do|does|has|have|had)(?:n['’]t|\s+not)\s+(?:\w+\s+)?(?:lead|led|cause|caused|result|resulted|make|made|inspire|inspired|bring)\b|不是因为|并非",
    re.I,
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|might|may|could|would|should|can|imagine|suppose|perhaps|maybe|hopefully|wish)\b|如果|可能|也许|要是",
    re.I,
)
_CUT = re.compile(r";\s+|\s[–—-]\s+|,?\s+(?:but|although|though|whereas|however)\s+", re.I)
_CUT_AFTER = re.compile(
    r";\s+|\s[–—-]\s+|,?\s+(?:but|although|though|however)\b|,\s+(?:and|so)\s+|"
    r",\s+(?=(?:I|we|he|she|they|it|which|that)\b)",
    re.I,
)
_LEAD = re.compile(
    r"^(?:(?:and|but|so|well|oh|yeah|yes|hey|actually|honestly|also|then|anyway|plus|ok(?:ay)?|wow|haha|btw|by the way|"
    r"i (?:think|guess|believe|mean)|you know|to be honest|the fact that|of)\b[,!.]*\s+)+",
    re.I,
)
_TRAIL = re.compile(
    r"\s+(?:is|are|was|were)$|(?:,|,?\s+and|\s+which|\s+that)(?:\s+(?:it|this|that|they))?(?:\s+has|\s+have|\s+had)?\s*$",
    re.I,
)
_EMPTY = re.compile(
    r"^(?:it|this|that|these|those|you|him|her|them|me|us|all (?:of )?(?:it|this|that))$", re.I
)
_EDGE = " \t\n,.;:!?\"'“”‘’()…-–—。，！？"


def causes(text: str) -> tuple[Cause, ...]:
    """What a text says brought about what, in order."""
    found: list[Cause] = []
    last: Span | None = None
    for start, end in sentences(text[:LONGEST]):
        sentence = text[start:end]
        if not only_asks(sentence):
            found += _of_sentence(text, (start, end), last)
            last = (start, end)
        else:
            last = None
    return tuple(dict.fromkeys(found))


def strength(found: tuple[Cause, ...]) -> float:
    """How plainly a text states a cause."""
    return max((one.weight for one in found), default=0.0)


def _of_sentence(text: str, place: Span, last: Span | None) -> Iterator[Cause]:
    sentence = text[slice(*place)]
    if len(sentence) > 2 * LONGEST_CLAUSE or not _CUE.search(sentence) or _DENIED_ALTOGETHER.search(sentence):
        return
    for rule in _RULES:
        match = rule.pattern.match(sentence)
        if match is None or _in_doubt(sentence, match):
            continue
        sides = [_side(text, place, match, name, last if rule.before else None) for name in ("c", "e")]
        if sides[0] and sides[1]:
            yield Cause(sides[0], sides[1], " ".join(match.group("cue").lower().split()), rule.weight)
            return


def _in_doubt(sentence: str, match: re.Match[str]) -> bool:
    """Denied right before the cue, or supposed anywhere in the clause that the cue is in."""
    at = match.start("cue")
    head = sentence[:at]
    cut = max((found.end() for found in _CUT.finditer(head)), default=0)
    own = head[cut:] + match.group("cue")
    return bool(_DENIED.search(head) or _SUPPOSED.search(own))


def _side(text: str, place: Span, match: re.Match[str], name: str, last: Span | None) -> Span | None:
    """One clause, trimmed; the sentence before where the sentence only points at it."""
    if name not in match.re.groupindex or match.group(name) is None:
        return _clause(text, last, after=False) if last else None
    start, end = place[0] + match.start(name), place[0] + match.end(name)
    return _clause(text, (start, end), after=match.start(name) > match.start("cue"))


def _clause(text: str, span: Span, *, after: bool) -> Span | None:
    """The clause next to the cue: the first one after it, the last one before it."""
    start, end = span
    if after:
        if found := _CUT_AFTER.search(text, start + 1, end):
            end = found.start()
    else:
        start = max((m.end() for m in _CUT.finditer(text, start, end) if m.end() < end), default=start)
    if lead := _LEAD.match(text[start:end]):
        start += lead.end()
    if not after and (trail := _TRAIL.search(text[start:end])):
        end = start + trail.start()
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1] in _EDGE:
        end -= 1
    clause = text[start:end]
    if not _says_something(clause):
        return None
    return start, end


def _says_something(clause: str) -> bool:
    if len(clause) > LONGEST_CLAUSE or _EMPTY.match(clause):
        return False
    if not clause.isascii() and len(clause) >= 2:
        return True
    return len(clause) >= SHORTEST_CLAUSE and " " in clause and bool(content_words(clause))


def happening(clause: str, speaker: str = "") -> str:
    """What a clause is known by, so that the same one in two texts is one happening.

    >>> happening("I  lost my job", "Ana") == happening("i lost my JOB", "Ana")
    True
    """
    plain = " ".join(clause.split()).strip(_EDGE).casefold().replace("’", "'")
    plain = re.sub(r"\bi\b", "I", plain)
    own = re.search(r"\b(?:I|my|me|mine|we|our|us)\b|我", plain)
    return f"{speaker}: {plain}" if speaker and own else plain
