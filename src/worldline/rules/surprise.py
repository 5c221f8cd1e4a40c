"""How much of a text is new: its fact fingerprints, and the share of them that was never met before.

A fingerprint is a token that facts hang on: a number, a name, a date, a word for something that
happens, a thing that is defined. Pure: what was met before comes from the caller.

>>> mark = fingerprints("I moved to Porto in May 2024.")
>>> sorted(mark.tokens), mark.updates
(['2024', 'may', 'move', 'porto'], True)
>>> surprise(mark, mark.tokens) > surprise(mark, set())
True
"""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct

from worldline.text import words

LONGEST = 6000
_NAME = re.compile(r"(?<=[a-z,;:'’\)] )(?!I\b|I'|OK\b|TV\b)[A-Z][\w'’&.-]*")
_NUMBER = re.compile(r"(?<!\w)\d[\d.,:/-]*\w*")
_DEFINES = re.compile(
    r"\b([\w'’-]{3,}) (?:is|are|was|means|stands for|refers to) (?:an?|the) ([\w'’-]{3,})", re.I
)
_EVENTS = re.compile(
    r"\b(?:married|engaged|divorced|born|died|pregnant|hired|fired|promoted|retired|graduated|enrolled|diagnosed|"
    r"surgery|hospital|accident|injured|broke|stolen|bought|sold|rented|adopted|joined|founded|launched|released|"
    r"published|won|lost|passed|failed|finished|cancelled|canceled|met|visited|travelled|traveled|flew|celebrated|"
    r"wedding|funeral|birthday|anniversary|interview|exam|concert|trip|vacation|marathon)\b",
    re.I,
)
_UPDATES = re.compile(
    r"\b(?:moved|switched|changed|replaced|upgraded|updated|quit|left|resigned|started|stopped|became|turned into|"
    r"no longer|not any ?more|used to|actually|instead|renamed|postponed|rescheduled|now (?:live|work|use|have))\b",
    re.I,
)
_SHARE, _LENGTH, _DETAIL, _EVENT = 0.75, 0.08, 0.09, 0.08
"""What the share of new fingerprints is worth, and the small bonuses for length, detail and events."""
_ENOUGH, _LONG, _MANY = 3, 60, 8


class Fingerprints(Struct, frozen=True):
    """What a text's facts hang on."""

    tokens: frozenset[str]
    length: int
    happens: bool
    updates: bool


def fingerprints(text: str) -> Fingerprints:
    """The fingerprints of one text, as the words index has them."""
    head = text[:LONGEST]
    events, updates = _EVENTS.findall(head), _UPDATES.findall(head)
    found = [*_NAME.findall(head), *_NUMBER.findall(head), *events]
    found += [update for update in updates if " " not in update]
    found += [part for pair in _DEFINES.findall(head) for part in pair]
    tokens = frozenset(token for part in found for token in words(part) if len(token) > 1)
    return Fingerprints(tokens, len(words(head)), bool(events), bool(updates))


def surprise(mark: Fingerprints, new: Collection[str]) -> float:
    """From 0 (nothing that was not known) to 1, given those of its tokens that were never met before."""
    count = len(mark.tokens)
    share = len(mark.tokens & set(new)) / count if count else 0.0
    bonus = _LENGTH * min(1.0, mark.length / _LONG) + _DETAIL * min(1.0, count / _MANY)
    return (
        _SHARE * share * min(1.0, count / _ENOUGH) + bonus + _EVENT * (mark.happens or mark.updates)
        if count
        else bonus
    )
