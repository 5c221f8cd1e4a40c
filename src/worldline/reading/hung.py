"""Lists and colours, where the parser hangs things on the wrong word or tears them from each other.

Words that the parser never met are verbs or adjectives to it, and a thing behind "and" is then joined to something
else: "allergic to peanuts and shellfish", "hates squash and leeks". What stands behind an adjective's preposition or a
verb, with nothing but things, commas and "and", is one list.

Colours are nouns and adjectives alike, and stand in front of a name ("a grey Skoda") as well as behind a thing: what
has a colour, and what is given one.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import stem
from worldline.reading.families import families, members
from worldline.reading.parser import Token
from worldline.text import stop

# Lists ================================================================================================

TOWARDS = frozenset("allergic intolerant immune sensitive addicted vulnerable averse".split())
"""To what somebody is so is a thing, and nothing to be done."""
_TOWARDS = frozenset({"allergy", "intolerance", "aversion", "addiction"})
_BEHIND = frozenset("to of in about by with at".split())
_JOINING = frozenset({"and", "or"})
_NOUNS = frozenset({"NOUN", "PROPN", "NUM"})
_THINGS = frozenset("NN NNS NNP NNPS JJ VB VBP VBG VBN FW".split())
_INNER = frozenset({"compound", "amod", "nmod", "nummod"})
_WITH_VERBS = frozenset("help make let go come dare see hear watch feel be do have try".split())
_LONGEST = 3
"""Words of one thing in a list."""


def joined_object(found: list[Token], place: int) -> None:
    """ "speaks French but neither Arabic nor Dutch": a thing is joined to a thing, not to the verb."""
    token, verb = found[place], found[place].head
    if token.dep != "conj":
        return
    marked = any(t.head == place and t.dep in ("preconj", "neg", "det") for t in found)
    thing = token.pos in _NOUNS or (token.pos == "ADJ" and marked)
    if not thing or found[verb].pos != "VERB" or any(
        t.head == place and t.dep in ("nsubj", "nsubjpass", "aux", "cop") for t in found
    ):  # fmt: skip
        return
    objects = [i for i, t in enumerate(found[:place]) if t.head == verb and t.dep in ("dobj", "attr")]
    if objects:
        found[place] = replace(token, head=objects[-1])
        for i in range(objects[-1] + 1, place):
            if found[i].head == verb and found[i].dep == "cc":
                found[i] = replace(found[i], head=objects[-1])


def then_another(found: list[Token], place: int) -> None:
    """ "was Hansa until March, then Borg": one more of the same, and no other name of the month."""
    token, front = found[place], found[place - 1]
    day, prep = token.head, found[token.head].head
    if token.dep != "appos" or front.low != "then" or found[prep].low not in ("until", "till"):
        return
    first = [
        i for i, t in enumerate(found[:prep]) if t.head == found[prep].head and t.dep in ("attr", "dobj")
    ]
    if first:
        found[place] = replace(token, dep="conj", head=first[-1])
        found[place - 1] = replace(front, head=found[prep].head if front.head == day else front.head)


def listed(tokens: Sequence[Token]) -> list[Token]:
    """The words of a sentence with the lists mended that were torn."""
    found = list(tokens)
    for place in range(len(tokens)):
        led = _led(found, place)
        items = _items(found, place, led) if led else []
        if len(items) > 1 and _is_torn(found, place, items, led):
            found = _joined(found, place, items, led)
    return found


def _led(tokens: Sequence[Token], place: int) -> str:
    """What the first thing behind a word is to it: the object of a verb, or of an adjective's preposition."""
    token = tokens[place]
    if token.pos == "VERB" and token.tag != "VBG":
        return "" if token.lemma in _WITH_VERBS else "dobj"
    before = tokens[place - 1] if place else token
    toward = token.low in _BEHIND and before.pos == "ADJ" and before.dep in ("acomp", "conj")
    known = before.low in TOWARDS or (token.low == "to" and before.lemma in _TOWARDS)
    return "pobj" if (toward and token.tag == "IN") or (known and token.low in _BEHIND) else ""


def _items(tokens: Sequence[Token], start: int, led: str) -> list[list[int]]:
    """The things behind a word, each by its places; none where anything else stands among them."""
    found: list[list[int]] = [[]]
    closed, place = False, start + 1
    while place < len(tokens):
        token = tokens[place]
        if token.tag in _THINGS and token.pos != "AUX" and token.low not in stop():
            found[-1].append(place)
        elif found[-1] and ((token.text == "," and not closed) or token.low in _JOINING):
            closed |= token.low in _JOINING
            found.append([])
        elif not found[-1] and len(found) > 1 and token.low in (*_JOINING, tokens[start].low):
            closed |= token.low in _JOINING  # "nuts, and shellfish", "to nuts and to shellfish"
        elif found != [[]] or token.low not in ("both", "either"):
            break
        place += 1
    over = place == len(tokens) or tokens[place].pos == "PUNCT"
    whole = all(found) and all(len(item) <= _LONGEST for item in found)
    if not (closed and over and whole) or any(_is_said(tokens, item, led) for item in found[1:]):
        return []
    return [] if led == "dobj" and _is_said(tokens, found[0], led) else found


def _is_said(tokens: Sequence[Token], item: Sequence[int], led: str) -> bool:
    """Whether a further thing is said there instead: "… and hate olives", "… and vegetarian"."""
    first, last = tokens[item[0]], tokens[item[-1]]
    verb = first.tag in ("VB", "VBP", "VBN") and (
        first.lemma in families().verbs or first.low in families().verbs
    )
    state = len(item) == 1 and last.tag == "JJ" and (
        bool(families().by_word(last.low)) or last.low in words("mood_adjectives.txt") | words("lasting_adjectives.txt")
    )  # fmt: skip
    return verb or state or (led == "dobj" and last.tag == "JJ" and len(item) > 1)


def _is_torn(tokens: Sequence[Token], start: int, items: Sequence[Sequence[int]], led: str) -> bool:
    """Whether one of the things hangs elsewhere, or is no thing ("car and house insurance" is torn nowhere)."""
    heads = [item[-1] for item in items]
    for at, (head, item) in enumerate(zip(heads, items, strict=True)):
        token = tokens[head]
        shared = (
            len(item) == 1 and token.dep in _INNER and token.head in heads[at + 1 :] and token.tag != "NNS"
        )
        joined = token.dep == "conj" and token.head in (
            *heads[:at],
            *(i for each in items[:at] for i in each),
        )
        hung = joined if at else token.dep == led and token.head == start
        thing = token.pos in ("NOUN", "PROPN") or (led == "dobj" and token.tag == "VBG")
        inside = all(tokens[i].head in item for i in item[:-1])
        doing = led == "dobj" and token.tag == "VBG"
        if not (shared or doing or (hung and thing and inside)):
            return True
    return False


def _joined(tokens: Sequence[Token], start: int, items: Sequence[Sequence[int]], led: str) -> list[Token]:
    """The same with these things as one list behind a word."""
    found = list(tokens)
    inside = range(start + 1, items[-1][-1] + 1)
    verb = start if led == "dobj" else next(
        (i for i in range(start - 1, -1, -1) if tokens[i].pos in ("VERB", "AUX")), start)  # fmt: skip
    if led == "pobj":
        found[start] = replace(tokens[start], pos="ADP", tag="IN", dep="prep", head=start - 1)
    if tokens[verb].head in inside:
        found[verb] = replace(tokens[verb], dep="ROOT", head=verb)
    for i, token in enumerate(found):
        if i not in inside and token.head in inside:
            found[i] = replace(token, head=verb)
    before = 0
    for item in items:
        last = item[-1]
        for i in item[:-1]:
            sort = "amod" if tokens[i].tag == "JJ" else "compound"
            found[i] = replace(tokens[i], pos="ADJ" if sort == "amod" else "NOUN", dep=sort, head=last)
        named = tokens[last].pos in ("NOUN", "PROPN")
        thing = tokens[last] if named else replace(tokens[last], pos="NOUN", tag="NN", lemma=tokens[last].low)
        found[last] = replace(thing, dep="conj" if before else led, head=before or start)
        for i in range((before or start) + 1, item[0]):
            sort = "punct" if tokens[i].text == "," else "cc" if before else "preconj"
            found[i] = replace(tokens[i], dep=sort, head=before or last)
        before = last
    return found


# Colours ==============================================================================================

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
