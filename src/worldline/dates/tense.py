"""Which way the words around a date point: ahead of the time said, or behind it.

Decides by the word that leads to the date ("by Friday" is ahead, "back in May" behind), then by the
nearest verb of the sentence before the date, then after it.  A plan is ahead although its verb ends
in -ed ("was moved to Friday", "is planned for June").  The lead also says what the date does: begin
("since") or end ("until") something.

    Pointer("see you Thursday").at(8, 16, "weekday").future is True
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import takewhile
from typing import Literal

import msgspec

Role = Literal["", "start", "end", "range"]


class Pointed(msgspec.Struct, frozen=True):
    """Where a date lies (None: nothing says), whether today will do, and what the date does."""

    future: bool | None = None
    mild: bool = False
    role: Role = ""


# What a word before a date says: the way, whether that outweighs the verb, and the role.
_Lead = tuple[bool | None, bool, Role]
_NO_LEAD: _Lead = (None, False, "")
_STARTING: _Lead = (True, False, "start")
_TABLE: list[tuple[str, _Lead]] = [
    ("since|ever since", (False, True, "start")),
    ("back in|back on|was|were|is from|are from|was from|were from", (False, True, "")),
    ("for|to|is|are|it's|that's", (True, True, "")),
    ("by|before", (True, False, "")),
    ("until|till|til|through|thru|up to|up until|直到|截至|截止|截止到", (True, False, "end")),
    ("starting|beginning|commencing", _STARTING),
    ("from|as of|effective|从|自|自从", (None, False, "start")),
]
_LEADS = {word: lead for words, lead in _TABLE for word in words.split("|")}
_MILD = ("is", "are", "it's", "that's")
_EVENTFUL = ("holiday", "season")  # "got it for Christmas", "went home for the summer"
_ENGLISH_LEADS = "|".join(sorted((w for w in _LEADS if w.isascii()), key=len, reverse=True))
_LEAD = re.compile(
    rf"(?<![\w'])(?P<w>{_ENGLISH_LEADS.replace(' ', chr(92) + 's+')})\s+"
    r"(?:(?:on|in|at|about|around|the|early|mid|late)\s+)*$"
    r"|(?P<h>自从?|从|直到|截至|截止到?)$",
    re.I,
)
_DIRECT = re.compile(r"\b(?:to|for)\s+(?:(?:the|early|mid|late)\s+)*$", re.I)
MOVED = re.compile(  # "we moved the call from Monday to Thursday" is no range
    r"\b(?:mov|push|postpon|reschedul|shift|chang|switch|delay|bump)(?:ed?)?\s+"
    r"(?:(?!to\b|and\b|in\b|at\b)[\w’']+\s+){0,4}from\s",
    re.I,
)
_LEANING = re.compile(r"(?:day|week|weekend|month|year|night|morning|evening|hour)s?\s+before\s", re.I)
_THING = re.compile(
    r"(?:(?P<p>[\w’']+)\s+)?\b(?:an?|the|my|our|your|his|her|their|its|this|that|these|those|some)\s+"
    r"(?P<n>(?:[\w’'-]+\s+){1,4})from\s+$|\b(?:is|are|was|were|it[’']s|that[’']s)\s+(?:\w+\s+)?from\s+$",
    re.I,
)
_PLACED = frozenset("at in for with as on to by near".split())
_CUE = re.compile(
    r"(?P<stop>[.!?](?=\s(?-i:[A-Z\"'(]))|[;\n。！？；])"
    r"|(?P<turn>,\s(?:and|but|so|while|which|because|though)\b)"
    r"|(?P<ahead>\b(?:will(?:\s+have\s+\w+)?|shall|won[’']t|gonna|gotta|going\s+to|plan(?:s|ning)?\s+(?:to|on|for)|planned|"
    r"scheduled|slated|supposed|upcoming|tomorrow|hop(?:e|ing)\s+to|look(?:ing)?\s+forward|"
    r"can[’']t\s+wait|let[’']s|due(?!\s+to)|thinking\s+(?:of|about\s+\w+ing)|wants?\s+to|needs?|ha(?:ve|s)\s+to|must|should|"
    r"(?:see|catch|meet|join)\s+(?:you|me|us)|remind|remember\s+to|don[’']t\s+forget|please|"
    r"can\s+(?:we|you|i)|could\s+(?:we|you|i)|would\s+(?:like|love)|departs|arrives|starts|begins|"
    r"opens|launches|ships|expires|ends|closes|returns|lands)\b|[’']ll\b"
    r"|\b(?:is|are|be)\s+(?:(?:not|also|now|still)\s+)?"
    r"(?:(?!interested|excited|tired|worried|used|based)\w{2,}ed|sent|paid|held|built|sold|made|kept)\b"
    r"|(?:\b(?:am|are|is)|[’'](?:m|re)|\b(?:he|she|it|that)[’']s)\s+(?:(?:not|also|now|still)\s+)?"
    r"(?:having|going|meeting|starting|flying|leaving|travel+ing|visiting|moving|hosting|throwing|getting|"
    r"taking|seeing|coming|attending|arriving|planning)\b|将|打算|计划|准备|预[定约订])"
    r"|(?P<weak>\b(?:deadline|appointment|appt|reservation|leaves)\b|截止)"
    r"|\b(?:hundred|indeed|speed|excited|interested|tired|worried|booked|reserved|arranged|"
    r"organi[sz]ed|confirmed|registered|invited|postponed|rescheduled|signed\s+up)\b"
    r"|(?P<behind>\b(?:(?:was|were)(?:\s+due)?|did|had|went|got|saw|met|took|made|came|bought|gave|ate|found|told|said|"
    r"left|began|ran|won|lost|felt|flew|drove|spent|been|broke|wrote|sent|paid|sold|taught|caught|"
    r"brought|heard|held|kept|knew|slept|spoke|stood|woke|wore|grew|fell|chose|built|became|rode|"
    r"\w{3,}ed)\b|(?<![为除])了(?!解)|曾)",
    re.I,
)
_REACH = 12  # so many cues on either side are looked at


class Pointer:
    """The cues of one text, found when the first date asks for them."""

    def __init__(self, text: str, told: bool | None = None) -> None:
        self._text, self._told = text, told
        self._cues: list[tuple[int, str]] | None = None

    def at(self, begin: int, end: int, form: str, follows: int = 0) -> Pointed:
        """What the words say of the date written at [begin, end); `follows` is where the last ended."""
        head = self._text[max(0, begin - 60) : begin].replace("’", "'")
        match = _LEAD.search(head)
        word = re.sub(r"\s+", " ", (match["w"] or match["h"]).lower()) if match else ""
        lead = _LEADS.get(word, _NO_LEAD)
        ranged = follows and self._text[follows:begin].strip().lower().startswith("to")
        ranged = ranged and not MOVED.search(self._text[max(0, follows - 60) : follows])
        if word in ("to", "for") and (ranged or not _DIRECT.search(head)):
            lead = _NO_LEAD  # the end of a range, "subscribed to in May"
        if word == "from" and is_of_a_thing(head):
            lead = (False, True, "")
        elif word == "from" and MOVED.search(head):
            lead = (None, True, "")
        elif word == "from" and form == "weekday":
            lead = _STARTING
        elif word == "before" and _LEANING.search(head):
            lead = _NO_LEAD
        return Pointed(self._way(begin, end, form, lead), word in _MILD, lead[2])

    def _way(self, begin: int, end: int, form: str, lead: _Lead) -> bool | None:
        if self._told is not None:
            return self._told
        future, firm, role = lead
        if firm and not (future and not role and form in _EVENTFUL):
            return future
        return future if (worded := self._worded(begin, end)) is None else worded

    def _worded(self, begin: int, end: int) -> bool | None:
        if self._cues is None:
            found = ((m.start(), m.lastgroup) for m in _CUE.finditer(self._text))
            self._cues = [(start, kind) for start, kind in found if kind]
        index = bisect_left(self._cues, (begin, ""))
        after = bisect_left(self._cues, (end, ""))
        kinds = [kind for _, kind in reversed(self._cues[max(0, index - _REACH) : index])]
        rest = [kind for _, kind in self._cues[after : after + _REACH]]
        seen = [*takewhile("stop".__ne__, kinds), *takewhile(lambda k: k not in ("stop", "turn"), rest)]
        seen = [kind for kind in seen if kind != "turn"]
        strong = next((kind for kind in seen if kind != "weak"), "")
        return True if strong == "ahead" or (seen and not strong) else False if strong else None


def is_of_a_thing(head: str) -> bool:
    """Whether words that end with "from" make what follows the origin of a thing ("a wine from")."""
    match = _THING.search(head)
    if match is None or (match["p"] or "").lower() in _PLACED:
        return False
    between = match["n"] or ""
    return not re.search(r"\b(?:t?here|and)\b", between) and not any(
        m.lastgroup == "behind" for m in _CUE.finditer(between)
    )
