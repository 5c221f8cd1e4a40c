"""Colours, where the parser hangs them on the wrong word: what has a colour, and what is given one.

They are nouns and adjectives alike, and stand in front of a name ("a grey Skoda") as well as behind a thing.
"""

from __future__ import annotations

from msgspec.structs import replace

from worldline.reading.claim import stem
from worldline.reading.families import members
from worldline.reading.parser import Token

_COLOURING = frozenset("paint repaint dye spray respray".split())
_HUNG = frozenset("amod advcl advmod dobj oprd acomp nmod xcomp".split())
"""What the colour behind a thing is taken for."""


def _is_colour(token: Token) -> bool:
    return stem(token.low) in members(("colour", "color"))


def coloured(found: list[Token], place: int) -> None:
    """ "drives a grey Skoda Octavia": a colour in front of a name is the thing's, not the thing."""
    token = found[place]
    if token.pos != "NOUN":
        return
    behind = next((i for i, t in enumerate(found) if t.head == place and t.dep == "appos" and i > place), 0)
    if not behind or found[behind].pos != "PROPN":
        return
    if not _is_colour(token) or any(t.text == "," for t in found[place:behind]):
        return
    found[behind] = replace(found[behind], dep=token.dep, head=token.head)
    for at, other in enumerate(found):
        if other.head == place and at != behind:
            found[at] = replace(other, head=behind)
    found[place] = replace(token, pos="ADJ", tag="JJ", dep="amod", head=behind)


def painted(found: list[Token], place: int) -> None:
    """ "painted the front door dark red": the thing, and what colour it is given."""
    token = found[place]
    if token.dep not in _HUNG:
        return
    shade = place - 1 if found[place - 1].low in _SHADES else place
    thing, verb = shade - 1, next((i for i in range(place) if found[i].lemma in _COLOURING), place)
    over = place + 1 == len(found) or found[place + 1].pos not in ("NOUN", "PROPN")
    if not (verb < thing and over and _is_colour(token)):
        return
    if found[thing].pos not in ("NOUN", "PROPN") or found[thing].head not in (verb, place):
        return
    for at, other in enumerate(found):
        if verb < at < shade and other.head == place:
            found[at] = replace(other, head=thing)
        elif at > place and other.head == place:
            found[at] = replace(other, head=verb)
    if shade < place:
        found[shade] = replace(found[shade], pos="ADJ", tag="JJ", dep="amod", head=place)
    found[thing] = replace(found[thing], dep="dobj", head=verb)
    found[place] = replace(token, pos="NOUN", tag="NN", dep="oprd", head=verb)


_SHADES = frozenset("dark light pale bright deep dusty navy sky royal pastel hot lime forest".split())
