"""Repairs of what the parser gets wrong about single words, where the rest of the sentence shows it.

Words that it never met are guessed to be adjectives or verbs: codes and passwords ("is tulip-9090"),
foods and plants ("I hate cilantro"), surnames ("Amina Said joined"). Where a word stands decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.parser import Token

_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w@#./:+-]+$|\S+@\S+\.\w+$")
_ROLES = frozenset({"nsubj", "nsubjpass", "dobj", "pobj"})
_LINKING = frozenset("be become get stay remain turn go seem look feel sound grow come".split())
_WAYS = frozenset("go cycle walk drive commute come bike run ride get travel".split())


def mended(tokens: Sequence[Token]) -> list[Token]:
    """The words of a sentence with the mistakes taken back that can be seen."""
    found = list(tokens)
    for place, token in enumerate(tokens):
        found[place] = _mended(tokens, place, token)
    for place, token in enumerate(tokens):
        if _is_way_to_work(tokens, place):
            found = [replace(t, head=token.head) if t.head == place else t for t in found]
            found[place - 1] = replace(tokens[place - 1], pos="ADP", tag="IN", dep="prep", head=token.head)
            found[place] = replace(token, pos="NOUN", tag="NN", dep="pobj", head=place - 1)
        elif _is_owning(tokens, place):
            noun = token.head
            found = [replace(t, head=place) if t.head == noun and t.dep in _OF_VERBS else t for t in found]
            found[place] = replace(token, pos="VERB", dep="ROOT", head=place)
            found[noun] = replace(found[noun], dep="dobj", head=place)
    return found


_OF_VERBS = frozenset({"nsubj", "prep", "advmod", "npadvmod", "punct", "cc", "conj", "neg", "aux"})


def _is_owning(tokens: Sequence[Token], place: int) -> bool:
    """ "has diabetes": taken for a helping verb, though no verb follows."""
    token, head = tokens[place], tokens[tokens[place].head]
    return (
        token.low in ("has", "have", "had")
        and token.dep == "aux"
        and head.pos in ("NOUN", "PROPN")
        and head.dep == "ROOT"
        and head.head == token.head
    )


def _mended(tokens: Sequence[Token], place: int, token: Token) -> Token:
    head = tokens[token.head]
    if token.dep in ("acomp", "advmod", "oprd") and head.pos in ("AUX", "VERB") and _CODE.match(token.text):
        dep = "attr" if head.lemma in _LINKING else "dobj"
        return replace(token, pos="NOUN", tag="NN", dep=dep, lemma=token.text)
    if (
        token.pos in ("VERB", "ADJ", "ADV", "INTJ", "X")
        and token.dep in _ROLES
        and token.text[:1].isupper()
        and place > 0
        and any(t.head == place and t.dep == "compound" and t.pos == "PROPN" for t in tokens)
    ):
        return replace(token, pos="PROPN", tag="NNP", lemma=token.text)
    if _is_unknown_object(tokens, place, token):
        return replace(token, pos="NOUN", tag="NN", dep="dobj", lemma=token.low)
    return token


def _is_unknown_object(tokens: Sequence[Token], place: int, token: Token) -> bool:
    """ "I hate cilantro": an adjective cannot tell how something is done, so it is the thing itself."""
    head = tokens[token.head]
    return (
        token.tag in ("JJ", "JJS", "JJR")
        and token.low not in ("most", "best", "least", "worst", "better", "more", "less")
        and token.dep in ("advmod", "acomp", "oprd")
        and head.lemma in words("liking_verbs.txt")
        and token.head == place - 1
        and not any(t.head == token.head and t.dep in ("dobj", "xcomp", "ccomp") for t in tokens)
    )


def _is_way_to_work(tokens: Sequence[Token], place: int) -> bool:
    """ "I cycle to work" names a place and no purpose."""
    token = tokens[place]
    return (
        token.low == "work"
        and token.tag == "VB"
        and place > 0
        and tokens[place - 1].low == "to"
        and tokens[token.head].lemma in _WAYS
        and not any(t.head == place and t.dep in ("dobj", "prep") for t in tokens)
    )
