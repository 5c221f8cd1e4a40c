"""What a text says has happened: its sentences, what brought about what, and the turning points of a life.

Two doubts are shared by every rule here: a sentence that asks, and words that make what follows a wish, a condition or
a story. A cause is two spans, cause and effect, each a short clause in the text's own words; what is denied, supposed,
asked or said in general ("stress can lead to …") states none. A landmark (a job, a move, a birth, a loss …) has a kind,
somebody of whom it is told, and a weight; not when it was, and what is planned in vain or told of "you" is none.
Whether anything of it is true is not decided.

>>> text = "I moved. Did you?"
>>> [text[a:b] for a, b in sentences(text)]
['I moved.', 'Did you?']
>>> text = "We moved to Oslo because I got a job there."
>>> [(text[slice(*one.cause)], text[slice(*one.effect)]) for one in causes(text)]
[('I got a job there', 'We moved to Oslo')]
>>> [(one.kind, one.of) for one in landmarks("My sister had twins! I nearly got married once.")]
[('birth', 'My sister')]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from msgspec import Struct

from worldline.text import content_words

# Sentences ============================================================================================

_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|(?<=[。！？])|\n+")
_SHORT_FORM = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|Jr|Sr|Inc|a\.m|p\.m|U\.S)\.$|(?:^|\s)[A-Z]\.$"
)
_ASKS = re.compile(r"[?？][\"'”’)\s]*$")
_TELLS_ALL_THE_SAME = re.compile(
    r"\b(?:did i (?:ever )?(?:tell|mention)|have i (?:told|mentioned)|guess what|you know what|"
    r"can you believe|remember (?:when|that|how))\b|(?:,\s*|\s)(?:right|huh|you know|isn['’]t it|okay)\?",
    re.I,
)
_STRONG_CUT = re.compile(
    r"[,;]?\s+(?:but|though|however|anyway)\b,?|;|\s[–—-]\s|,\s+(?:and|so|because)\b|，|；", re.I
)
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|wish(?:es|ed)?|imagin\w+|suppos(?:e|ing)|pretend\w*|as though|"
    r"dream(?:ed|t|s|ing)?|hypothetically|would(?:n['’]t)?|could(?:n['’]t)?|might|in case|rumou?rs?|joking|"
    r"in (?:the|a|this|that|my) (?:book|movie|film|show|series|game|novel|story|dream|song|play|episode))\b"
    r"|(?:如果|要是|假如|万一|梦见|希望)",
    re.I,
)


class SaidSentence(NamedTuple):
    """One sentence of a text."""

    text: str
    begin: int
    asks: bool
    """Whether it asks rather than tells."""


def cut_all(texts: Sequence[str]) -> list[list[SaidSentence]]:
    """The sentences of each of these texts."""
    return [
        [SaidSentence(text[begin:end], begin, only_asks(text[begin:end])) for begin, end in sentences(text)]
        for text in texts
    ]


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text, as offsets without the space around them."""
    start = 0
    for found in _END.finditer(text):
        if not _SHORT_FORM.search(text, start, found.start()):
            yield from _trimmed(text, start, found.start())
            start = found.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if kept := piece.strip():
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(kept)


def only_asks(sentence: str) -> bool:
    """Whether a sentence asks rather than tells; "did you know that …" tells all the same."""
    return bool(_ASKS.search(sentence)) and not _TELLS_ALL_THE_SAME.search(sentence)


def unreal_before(sentence: str, at: int) -> bool:
    """Whether the words that lead up to a place make it a condition, a wish or a story."""
    head, cut = sentence[:at], 0
    for found in _STRONG_CUT.finditer(head):
        cut = found.end()
    return bool(_UNREAL.search(head, cut))


def strength(found: Iterable[Cause | Landmark]) -> float:
    """How plainly a text states a cause, or how much of a landmark it is: by its weightiest one."""
    return max((one.weight for one in found), default=0.0)


# Causes ===============================================================================================

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
_OPENING = r"^(?:(?:and|so|but|well|oh|yeah|yes),? )*"
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
    _rule(_OPENING + r"(?:the|my|our|his|her|one|another) (?:\w+ )?reason (?:(?:that|why|for) )?(e) "
          "(?P<cue>(?:is|was) (?:that|because|to|the|my|how)) (c)", 0.9),
    # because and its kin
    _rule(f"{_OPENING}(?P<cue>{_THROUGH}) (c,), (e)", 0.9),
    _rule(f"{_OPENING}(?P<cue>because) (c,), (e)", 1.0),
    _rule(f"{_OPENING}(?:that|this|it){_IS} (?P<cue>because|{_THROUGH}) (c)", 0.9, before=True),
    _rule("^(e),? (?:(?:mainly|mostly|partly|simply|largely|only|all|probably) )?"
          f"(?P<cue>{_THROUGH}|because) (c)", 1.0),
    # effect second
    _rule(f"^(c){_PAUSE} (?P<cue>(?:which|that|and that){_IS} (?:why|the reason(?: why)?)) (e)", 1.0),
    _rule(f"{_OPENING}(?P<cue>(?:that|this){_IS} (?:why|the reason(?: why)?)) (e)", 1.0, before=True),
    _rule(f"{_OPENING}(?P<cue>{_HENCE}|(?:{_THROUGH}) (?:that|this|it)),? (e)", 0.9, before=True),
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
            found += _causes_of(text, (start, end), last)
            last = (start, end)
        else:
            last = None
    return tuple(dict.fromkeys(found))


def _causes_of(text: str, place: Span, last: Span | None) -> Iterator[Cause]:
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


# Landmarks ============================================================================================

WEIGHTS = {
    kind: weight
    for kinds, weight in (
        ("birth marriage", 1.0),
        ("loss", 0.9),
        ("job move health graduation identity", 0.8),
        ("mishap achievement", 0.7),
        ("purchase pet", 0.6),
        ("travel beginning", 0.5),
        ("event", 0.4),
    )
    for kind in kinds.split()
}
"""What each kind weighs, told of oneself and done."""
_OF_OTHERS, _AHEAD = 0.8, 0.7


class Landmark(Struct, frozen=True):
    """One turning point: its kind, of whom (empty: the one who speaks), where it is told, its weight."""

    kind: str
    of: str
    start: int
    end: int
    weight: float


_KIN = (
    r"(?:wife|husband|spouse|partner|boyfriend|girlfriend|fianc[eé]e?|mother|mum|mom|mama|father|dad|papa|"
    r"parents?|sisters?|brothers?|siblings?|sons?|daughters?|kids?|child|children|baby|babies|twins|aunt|auntie|"
    r"uncle|cousins?|nieces?|nephews?|grand\w+|granny|nana|friends?|boss|colleague|coworker|neighbou?rs?|"
    r"roommate|mentor|teacher|coach|(?:mother|father|brother|sister|son|daughter)-in-law|"
    r"step(?:mother|father|mom|dad|son|daughter|sister|brother))"
)
_PET = (
    r"(?:dog|puppy|pup|cat|kitten|kitty|bunny|rabbit|hamster|parrot|bird|horse|pony|turtle|guinea pig|ferret|"
    r"snake|gecko)"
)
_WORKPLACE = (
    r"(?:business|company|shop|store|studio|start-?up|restaurant|caf[eé]|bakery|practice|firm|agency|gallery|"
    r"salon|gym|food truck)"
)
_DWELLING = r"(?:house|home|apartment|flat|condo|townhouse|cottage|cabin|farm|property|loft)"
_STUDY = (
    r"(?:degree|diploma|ph\.?d|doctorate|master['’]?s|bachelor['’]?s|mba|thesis|dissertation|certification|"
    r"certificate|licen[sc]e|ged|residency|bootcamp)"
)
_ORDEAL = (
    r"(?:surgery|operation|heart attack|stroke|miscarriage|concussion|seizure|transplant|c-section|biopsy|"
    r"breakdown|relapse|allergic reaction|overdose)"
)
_BONE = (
    r"(?:leg|arm|ankle|wrist|foot|toe|hand|finger|hip|ribs?|nose|collarbone|elbow|shoulder|knee|back|neck|jaw|"
    r"acl|achilles)"
)
_TROPHY = (
    r"(?:award|prize|medal|trophy|tournament|championship|competition|contest|race|election|grant|scholarship|"
    r"match|title|cup|league|pageant|hackathon|lottery)"
)
_ADVERB = (
    r"(?:just|finally|recently|actually|also|both|officially|already|now|then|even|really|once|first|later|"
    r"eventually|suddenly|unexpectedly|happily|sadly|unfortunately|luckily|all|still|ended up|completely|"
    r"at last|last (?:week|month|year|night|\w+day)|yesterday|today|this (?:week|month|year)|in \d{4})"
)
_AUX = "was|were|been|got|gotten|am|is|are|being|getting"
_A = r"(?:(?:a|an|the|my|our|his|her|their|this|that|some|one|two|three|another)\s+)"
_OWN = r"(?:my|our|his|her|their)"
_SOME = r"(?:(?!(?:not|no|never|and|or|but|to|for|in|at|with|of)\b)[\w'’&-]+\s+){0,3}?"
"""Up to three words that describe what follows."""
_PLACE = r"(?:the\s+)?(?-i:[A-Z])[\w-]+\b"

_DONE: tuple[tuple[str, str, str], ...] = (
    ("job", "got|landed|accepted|found|started|began|took|secured|scored|offered", rf"{_A}?{_SOME}"
     r"(?:job|position|role|internship|promotion|apprenticeship)\b"
     r"(?!\s+(?:done|to do|title|fair|right|description|model|play))"),
    ("job", "quit|left|lost|resigned from", rf"{_A}?{_SOME}(?:job|position|role|career|firm|company)\b"),
    ("job", _AUX, r"(?:hired|fired|promoted|laid off|let go|made redundant|furloughed|recruited)\b(?!\s+up)"),
    ("job", "retired|resigned", r"(?!to\b|early\b|for the night)"),
    ("job", "opened|launched|founded|started|closed|sold|shut down|took over",
     rf"(?:up\s+)?{_A}{_SOME}{_WORKPLACE}\b(?!\s+door)"),
    ("job", "started|began", r"(?:working|work)\s+(?:at|for|as|with)\b(?!\s+(?:noon|dawn|\d))"),
    ("job", "changed|switched", r"(?:jobs|careers|employers|(?:my|his|her) career)\b"),
    ("job", "joined", r"(?:(?-i:[A-Z])[\w&.-]+\s+){1,3}as\b"),
    ("move", "moved", rf"(?:(?:back|over|down|up|out|here)\s+)?(?:to|from)\s+{_PLACE}"),
    ("move", "moved", rf"(?:back\s+)?(?:to|into)\s+{_A}{_SOME}(?:{_DWELLING}|place|city|town|country|state|area|"
     r"neighbou?rhood|dorm|countryside|suburbs|coast|studio|village)\b(?!\s+(?:page|screen))"),
    ("move", "moved", r"(?:in\s+(?:together|with)|back\s+home|abroad|overseas|house|"
     r"across\s+the\s+(?:country|state|world|city))\b"),
    ("move", "relocated|emigrated|immigrated", r"(?!the\b)"),
    ("health", _AUX, r"(?:diagnosed|hospitali[sz]ed|rushed to|admitted to (?:the|a) hospital|injured|paraly[sz]ed|"
     r"in remission)\b"),
    ("health", "had|underwent|suffered|went through", rf"{_A}?{_SOME}{_ORDEAL}\b(?!\s+of\s+(?:luck|genius))"),
    ("health", "broke|fractured|sprained|tore|dislocated|injured", rf"(?:{_OWN}|an?)\s+{_SOME}{_BONE}\b"),
    ("health", "beat|survived", r"(?:\w+\s+)?(?:cancer|leukemia)\b"),
    ("health", "recovered from|got sober|tested positive|went to rehab|checked into rehab", r"(?!the shock\b)"),
    ("health", "quit|stopped|gave up", r"(?:smoking|drinking)\b"),
    ("birth", "gave birth", r"(?!to\s+(?:an?|the)\s+(?:idea|movement|tradition))"),
    ("birth", "had", rf"(?:an?|{_OWN})\s+{_SOME}(?:baby(?:\s+(?:boy|girl))?|son|daughter|child)\b"
     r"(?!['’]|\s+(?:shower|with|doctor|sitter|who|in\b|at\b|over\b|do\b|help))"),
    ("birth", "had", r"(?:twins|triplets)\b"),
    ("birth", "became", r"(?:an?\s+)?(?:\w+\s+)?(?:mom|mum|mother|dad|father|parent|grandma|grandmother|"
     r"grandpa|grandfather|grandparent|aunt|uncle|big sister|big brother)s?\b(?!\s+figure)"),
    ("birth", "welcomed|adopted", rf"{_A}{_SOME}(?:child|children|baby|son|daughter|girl|boy|toddler|"
     r"teenager|kids?|grandson|granddaughter|twins)\b(?!['’])"),
    ("birth", "found out", r"(?:that\s+)?(?:i|we|she)\s*(?:['’](?:m|re|s)|am|are|is|was|were)\s+"
     r"(?:pregnant|expecting)\b"),
    ("birth", "got pregnant", ""),
    ("marriage", "got", r"(?:re)?(?:married|engaged|hitched|divorced)\b"
     r"(?!\s+(?:to\s+(?:the|an?)\s+(?:idea|plan)|in\s+(?:an?\s+)?(?:argument|conversation|debate|politics)|with\s+the))"),
    ("marriage", "tied the knot|eloped", ""),
    ("marriage", "proposed to", rf"(?:me|him|her|us|{_OWN}|(?-i:[A-Z]))"),
    ("marriage", "filed for|went through", r"(?:an?\s+)?(?:\w+\s+)?divorce\b"),
    ("marriage", "broke up|split up|separated", r"(?!(?:the|an?|into|our|my|by)\b)"),
    ("marriage", "started|began", r"(?:dating\b|seeing\s+(?:some(?:one|body)|(?-i:[A-Z])))"),
    ("graduation", "graduated", r"(?!to\b|cylinder|tax|scale)"),
    ("graduation", "got|earned|finished|completed|received|defended|obtained",
     rf"(?:{_OWN}|an?|the)\s+{_SOME}{_STUDY}\b(?!\s+(?:plate|renewed|of authenticity))"),
    ("graduation", "passed", rf"(?:{_OWN}|the|all)\s+{_SOME}(?:exams?|bar|driving test|boards|finals)\b"
     r"(?!\s+(?:on|around|to))"),
    ("graduation", _AUX, r"(?:accepted|admitted)\s+(?:in)?to\b(?!\s+(?:the|an?)\s+(?:hospital|er\b))"),
    ("graduation", "got into", rf"(?:{_SOME}(?:college|university|grad school|program)\b|(?-i:[A-Z]))"),
    ("graduation", "dropped out of", r"(?:\w+\s+)?(?:school|college|university)\b"),
    ("graduation", "started|began", r"(?:college|university|(?:grad|law|med|medical)\s+school|"
     r"(?:my|his|her)\s+(?:ph\.?d|master['’]?s|degree|freshman year))\b"),
    ("loss", "lost", rf"{_OWN}\s+{_SOME}(?:{_KIN}|{_PET})\b(?!['’])(?!\s+(?:for|in\s+the|at\s+the|collar|toy))"),
    ("loss", "attended|went to|held", rf"(?:the|an?|{_OWN}(?:\s+\w+['’]s?)?)\s+(?:funeral|memorial|wake)\b"
     r"(?!\s+(?:up|day))"),
    ("loss", "put", rf"(?:down\s+{_OWN}\s+{_SOME}{_PET}|{_OWN}\s+{_SOME}{_PET}\s+(?:down|to\s+sleep))\b"),
    ("mishap", "crashed|totaled|totalled|wrecked", rf"(?:{_OWN}|the)\s+{_SOME}(?:car|truck|bike|motorcycle|van)\b"),
    ("mishap", "was in|were in|been in|got in|got into|had", rf"an?\s+{_SOME}accident\b(?!\s+report)"),
    ("mishap", _AUX, r"(?:robbed|mugged|evicted|arrested|burgled|scammed|hit by an?)\b"),
    ("achievement", "won", rf"(?:{_A}?{_SOME}{_TROPHY}\b(?!\s+tickets?)|(?:first|second|third|1st|2nd|3rd)\s+place\b)"),
    ("achievement", "ran|finished|completed", rf"(?:{_OWN}|an?|the)\s+{_SOME}"
     r"(?:marathon|triathlon|ironman|5k|10k)\b(?!\s+(?:of|movie))"),
    ("achievement", "published|released|finished writing|finished|recorded", rf"(?:{_OWN}|an?)\s+{_SOME}"
     r"(?:book|novel|paper|album|single|memoir|ep|story|screenplay|screenplays|painting)\b(?!\s+(?:report|review))"),
    ("achievement", "set|broke", r"(?:an?|the|my|his|her)\s+(?:\w+\s+){0,2}record\b(?!\s+(?:player|straight))"),
    ("achievement", "climbed|summited", r"(?-i:M)(?:oun)?t\b"),
    ("identity", "came out", r"(?:as\b|to\s+(?:my|his|her|their|everyone)\b)"),
    ("identity", "became", rf"an?\s+{_SOME}citizen\b"),
    ("identity", "got|received", rf"{_OWN}\s+(?:green card|citizenship|asylum)\b"),
    ("identity", _AUX, r"(?:bapti[sz]ed|ordained)\b"),
    ("identity", "converted to", r"(?-i:[A-Z])(?!DF)"),
    ("purchase", "bought|purchased|closed on|sold|paid off", rf"(?:{_OWN}|an?|the)\s+{_SOME}(?:{_DWELLING}|"
     r"car|truck|van|rv|camper|boat|motorcycle|motorbike|suv|land|piano|mortgage)\b"
     r"(?!['’]|\s+(?:insurance|wash|cover|keys?|magazine|warmer|decor|seat|charger|toy|plant|music|part|gym))"),
    ("pet", "adopted|rescued|got|brought home|took in", rf"{_A}{_SOME}{_PET}s?\b"
     r"(?!['’-]|\s+(?:food|bed|toy|collar|tree|sitter|hair|treats?|video|bath|groomed|to\b|out\b))"),
    ("travel", "went|flew|traveled|travelled|drove|sailed|backpacked|cruised|hitchhiked",
     rf"(?:(?:all the way|back|over|down|up|out|on a trip)\s+)?(?:to|through|around|across)\s+{_PLACE}(?!['’]s)"),
    ("travel", "got back|came back|returned|came home", r"from\s+(?:(?:an?|my|our|the)\s+(?:\w+\s+){0,2}"
     rf"(?:trip|vacation|holiday|honeymoon|cruise|retreat)\b|{_PLACE}(?!['’]s))"),
    ("travel", "went on|took|had", rf"(?:an?|the|{_OWN})\s+{_SOME}(?:vacation|holiday|honeymoon|road\s?trip|"
     r"cruise|safari|trip|getaway|pilgrimage)\b(?!\s+(?:to\s+the\s+(?:store|dentist|bathroom|er\b)|down|request))"),
    ("travel", "visited|toured|explored", rf"{_PLACE}(?!['’]s)"),
    ("beginning", "signed up|enrolled", r"(?:for|in|at)\b(?!\s+(?:the\s+newsletter|emails?))"),
    ("beginning", "joined|started|began|launched|founded|created|formed", rf"{_A}{_SOME}(?:club|team|group|band|choir|"
     r"league|class|course|blog|podcast|channel|garden|program(?:me)?|therapy|campaign|foundation|charity|movement|"
     r"community|organi[sz]ation|fan page|lessons|collection|journal|line)\b(?!\s+(?:photo|call))"),
    ("beginning", "took up", r"(?!(?:too|so|a lot|most|all|the)\b)"),
    ("event", "attended|hosted|organized|organised|threw|emceed|headlined|celebrated|participated in|took part in|"
     "performed at|performed in|performed|spoke at|volunteered at|competed in|went to|ran|had|held|did",
     rf"(?:{_A}|{_OWN}\s+\w+['’]s\s+)?{_SOME}(?:weddings?|concerts?|festivals?|conferences?|parades?|part(?:y|ies)|exhibit(?:ion)?s?|"
     r"retreats?|fundraisers?|rall(?:y|ies)|ceremon(?:y|ies)|reunions?|tournaments?|galas?|conventions?|fairs?|"
     r"charity (?:race|run|event)s?|birthdays?|anniversar(?:y|ies)|gigs?|recitals?|auctions?|protests?|"
     r"workshops?|auditions?|interviews?|photo ?shoots?|open mics?|camping trip)\b"
     r"(?!\s+(?:dress|planner|song|coming|in\s+\w+\s+(?:weeks|days|months)|next|planned|tomorrow|yet))"),
)  # fmt: skip
_OF_OTHERS_DONE: tuple[tuple[str, str, str], ...] = (
    ("loss", "passed away", r"(?!the\b)"),
    ("loss", "died", r"(?!laughing|down|out|hard|on\s+(?:me|us)|of\s+(?:laughter|embarrassment|boredom))"),
    ("birth", "was born|were born", r"(?!to\s+(?:do|be|perform|sing)|with\b)"),
    ("marriage", "proposed", r"(?=[.!,]|$|(?:last|yesterday|on|at|in|during)\b)"),
)  # fmt: skip
_TO_COME: tuple[tuple[str, str, str], ...] = (
    ("marriage", "getting", r"(?:re)?(?:married|hitched|divorced)\b"),
    ("marriage", "engaged|divorced|newlyweds", r"(?!(?:in|with)\b)"),
    ("birth", "pregnant", ""),
    ("birth", "expecting", r"(?:(?:an?|our|my|her|their)\s+(?:\w+\s+)?)?"
     r"(?:(?:baby|child|twins|boy|girl)\b|(?=[.!,]|$|in\b))"),
    ("move", "moving", rf"(?:(?:back|over)\s+)?(?:to\s+{_PLACE}|into\s+{_A}|in\s+(?:together|with)\b|abroad\b)"),
    ("job", "starting|beginning", rf"(?:an?|the|{_OWN})\s+{_SOME}(?:job|role|position|internship)\b"),
    ("job", "retiring", ""),
    ("graduation", "graduating", r"(?!class)"),
)  # fmt: skip
_CHINESE: tuple[tuple[str, str], ...] = (
    ("marriage", "(?:结婚|订婚|离婚|分手)了"),
    ("birth", "(?:怀孕|生(?:了|下)|当(?:爸爸|妈妈))了?"),
    ("job", "(?:找到|换|辞)(?:了)?(?:新)?工作|(?:升职|失业|退休|入职|辞职)了"),
    ("move", "搬(?:家|到|去|进)了?"),
    ("graduation", "(?:毕业|考上|录取)了"),
    ("loss", "(?:去世|过世|走)了(?!吗)(?<!带走了)(?<!拿走了)"),
    ("health", "(?:住院|确诊|做了手术|骨折)"),
    ("purchase", "买(?:了)?(?:房|车)(?:子)?了?"),
)
_CHINESE_DOUBT = re.compile(r"[没不未别]|如果|要是|想|打算|希望|会|可能|[吗？?]")

# Who: read backwards from the verb. Contractions ("I've", "she's") carry the auxiliary verb.
_NOBODY = (
    r"(?!(?:The|This|That|These|Those|It|You|Your|What|When|Where|Why|How|Who|Which|There|Here|If|So|And|But|Or|"
    r"Not|No|Nobody|Nothing|Everyone|Everybody|Someone|People|Everything|Has|Have|Had|Did|Do|Does|Is|Was|Are|"
    r"Were|Then|Now|Just|Finally|Recently|Also|Maybe|Perhaps|Today|Yesterday|Tomorrow|Last|Next|Since|Because|"
    r"After|Before|While|Yes|Yeah|Wow|Oh|Congrats|My|Our|His|Her|Their|We|He|She|They|I)\b)"
)
_NAME = rf"{_NOBODY}(?-i:[A-Z][a-z]+)"
_HEY = r"so|well|hey|oh|and|yes|yeah|guess what|(?:big|good|sad) news|update|news|wow|omg|anyway|then"
_FILL = rf"(?:,?\s+(?:{_ADVERB}|have|has|had|am|is|was|were|are|been|\w+ (?:weeks|months)),?)*"
_WHO = re.compile(
    rf"(?:\b(?P<self>(?:I|we)(?:['’](?:ve|m|re|d(?!\s+have)))?)"
    rf"|\b(?P<other>{_OWN}\s+(?:[\w-]+\s+){{0,2}}?(?:{_KIN}|{_PET})(?:,?\s+{_NAME},?)?(?:['’]s)?"
    rf"|(?:he|she|they)(?:['’](?:s|ve|re|d))?"
    rf"|{_NAME}(?:\s+{_NAME})?(?:['’]s)?(?:\s+and\s+{_NAME})?)"
    rf"|(?P<open>^(?:(?:{_HEY})[,!:.]*\s+)*(?:{_ADVERB}(?=,?\s))?)"
    rf"|(?P<joined>(?:[,;:]|\s[–—-]|\band)(?:\s+(?:{_HEY})[,!:.]*)*(?=\s)))"
    rf"{_FILL}\s*$",
    re.I,
)
_SOMEBODY_ELSE = re.compile(r"\b(?:you|he|she|they|who|it|not|never|everyone)\b|n['’]t\b", re.I)
_SOON = re.compile(
    rf"(?:\b(?:am|is|are|was|were)|['’](?:m|s|re))(?:\s+(?:{_ADVERB}|\w+ (?:weeks|months)))*\s*$", re.I
)
_SHORT = re.compile(r"['’](?:s|ve|re|d)$|,$")


class _LandmarkRule(Struct, frozen=True):
    kind: str
    pattern: re.Pattern[str]
    coming: bool
    of_others: bool


@cache
def _by_first_word() -> dict[str, list[_LandmarkRule]]:
    """The rules that a word may be the first of; made for the first text."""
    found: dict[str, list[_LandmarkRule]] = {}
    tables = ((_DONE, False, False), (_OF_OTHERS_DONE, False, True), (_TO_COME, True, False))
    for table, coming, of_others in tables:
        for kind, verbs, rest in table:
            between = rf"(?:(?:\s+{_ADVERB})*\s+|(?=[.!,]|$))" if verbs != _AUX else rf"(?:\s+{_ADVERB})*\s+"
            spaced = verbs.replace(" ", r"\s+")
            rule = _LandmarkRule(kind, re.compile(rf"(?:{spaced})\b{between}{rest}", re.I), coming, of_others)
            for word in dict.fromkeys(verb.split()[0] for verb in verbs.split("|")):
                found.setdefault(word, []).append(rule)
    return found


@cache
def _first() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(_by_first_word()))})\b", re.I)


_CHINESE_RULES = tuple((kind, re.compile(rule)) for kind, rule in _CHINESE)


def landmarks(text: str) -> tuple[Landmark, ...]:
    """The landmarks that a text tells of, in order; one of a kind for each sentence."""
    found: list[Landmark] = []
    for start, end in sentences(text[:LONGEST]):
        sentence = text[start:end]
        if not only_asks(sentence):
            found += _landmarks_of(sentence, start)
            if not sentence.isascii():
                found += _in_chinese(sentence, start)
    return tuple(found)


def _landmarks_of(sentence: str, offset: int) -> list[Landmark]:
    found: dict[str, Landmark] = {}
    rules = _by_first_word()
    for first in _first().finditer(sentence):
        for rule in rules[first.group().lower()]:
            match = rule.pattern.match(sentence, first.start()) if rule.kind not in found else None
            told = _told(sentence, first.start(), rule) if match else None
            if match and told:
                weight = round(WEIGHTS[rule.kind] * told[1], 3)
                start, end = offset + match.start(), offset + match.start() + len(match.group().rstrip())
                found[rule.kind] = Landmark(rule.kind, told[0], start, end, weight)
    return list(found.values())


def _told(sentence: str, at: int, rule: _LandmarkRule) -> tuple[str, float] | None:
    """(of whom, share of the weight) if somebody is said to have done it; None where it is in doubt."""
    if unreal_before(sentence, at):
        return None
    head = sentence[:at]
    who = _WHO.search(head)
    if who is None or (who.group("joined") and _SOMEBODY_ELSE.search(head)):
        return None
    other = who.group("other")
    if (rule.coming and not _SOON.search(head)) or (rule.of_others and not other):
        return None
    share = (_AHEAD if rule.coming else 1.0) * (_OF_OTHERS if other and not rule.of_others else 1.0)
    return _SHORT.sub("", other or ""), share


def _in_chinese(sentence: str, offset: int) -> list[Landmark]:
    if _CHINESE_DOUBT.search(sentence):
        return []
    found = []
    for kind, rule in _CHINESE_RULES:
        if match := rule.search(sentence):
            own = "我" in sentence[: match.start()]
            weight = WEIGHTS[kind] * (1.0 if own else _OF_OTHERS)
            whose = "" if own else sentence[: match.start()][-12:]
            found.append(Landmark(kind, whose, offset + match.start(), offset + match.end(), weight))
    return found
