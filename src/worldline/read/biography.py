"""The lane for questions about a person: the turning points that they, or others, told of them.

It decides which kinds of landmarks a question may be about, and finds the turns that tell one of
them; every turn passes the view. A question that names nobody, or asks for no such thing, is left to
the other lanes. It reads what sleep keeps (`profiles`), in one statement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import numpy as np
import orjson

from worldline.read.cues import Asked
from worldline.read.features import Column, Turn
from worldline.read.weights import PROFILE
from worldline.store.view import SqlView
from worldline.text import words

NAME = "profile"
DEPTH = 20
_ASKED = {
    "job": "job work career hire promote retire company business store shop startup fire quit internship position "
    "role employ employer promotion occupation profession",
    "move": "move relocate live home apartment emigrate hometown",
    "health": "ill sick injury injure hurt hospital surgery diagnose disease health recover break ankle leg doctor",
    "birth": "baby birth born pregnant child parent mother father adopt adoption son daughter twin kid",
    "marriage": "marry wedding engage engagement divorce propose date boyfriend girlfriend husband wife partner",
    "graduation": "graduate graduation degree college university school exam study certificate diploma license",
    "loss": "die death lose funeral pass grief mourn",
    "mishap": "accident crash rob arrest incident",
    "achievement": "win award prize medal tournament race marathon record publish novel competition achieve trophy",
    "identity": "gay lesbian transgender transition citizen baptize convert identity religion",
    "purchase": "buy purchase car house sell vehicle truck",
    "pet": "pet dog cat puppy kitten animal adopt",
    "travel": "travel trip visit vacation country fly tour abroad road holiday hike camp city",
    "beginning": "start join begin class club group hobby sign launch found blog course create organization community",
    "event": "attend event party concert festival conference parade wedding host show competition tournament perform "
    "celebrate exhibit workshop retreat fundraiser race gig",
}


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    """Token of a question → the kinds of landmarks it may be about."""
    found: dict[str, set[str]] = {}
    for kind, text in _ASKED.items():
        for token in words(text):
            found.setdefault(token, set()).add(kind)
    return {token: frozenset(kinds) for token, kinds in found.items()}


def asked_for(terms: Sequence[str]) -> frozenset[str]:
    """The kinds of landmarks that the terms of a question speak of."""
    return frozenset(kind for term in terms for kind in _kinds().get(term, ()))


def lane(view: SqlView, asked: Asked) -> list[int]:
    """Turns that tell a landmark of the kind asked for, of the people asked about, weightiest first."""
    kinds = asked_for(asked.terms)
    if not asked.people or not kinds:
        return []
    rows = view.query(
        "SELECT b.node FROM profiles p CROSS JOIN json_each(p.body, '$.landmarks') k"
        " CROSS JOIN json_each(k.value) m CROSS JOIN beliefs b ON b.tenant = :t AND b.line = m.value ->> 0"
        " WHERE p.tenant = :t AND p.speaker IN (SELECT value FROM json_each(:people))"
        f" AND k.key IN (SELECT value FROM json_each(:kinds)) AND {view.scoped('p')} AND {view.seen()}"
        " ORDER BY m.value ->> 1 DESC, b.node LIMIT :depth",
        people=orjson.dumps(asked.people).decode(),
        kinds=orjson.dumps(sorted(kinds)).decode(),
        depth=2 * DEPTH,
    )
    return list(dict.fromkeys(row[0] for row in rows))[:DEPTH]


def column(turns: Sequence[Turn], found: Collection[int] | None) -> dict[str, Column]:
    """What the lane gives to the score."""
    if not found or not turns:
        return {}
    return {NAME: PROFILE * np.array([turn.key in found for turn in turns], float)}
