"""Repairs of what the parser gets wrong about single words, where the rest of the sentence shows it.

Words that it never met are guessed to be adjectives or verbs: codes and passwords ("is tulip-9090"),
foods and plants ("I hate cilantro"), surnames ("Amina Said joined"). Where a word stands decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.inflection import base_of, plural
from worldline.reading.parser import Token

_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w@#./:+-]+$|\S+@\S+\.\w+$")
_CALENDAR = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.I
)
_ROLES = frozenset({"nsubj", "nsubjpass", "dobj", "pobj"})
_LINKING = frozenset("be become get stay remain turn go seem look feel sound grow come".split())
_WAYS = frozenset("go cycle walk drive commute come bike run ride get travel".split())


def mended(tokens: Sequence[Token]) -> list[Token]:
    """The words of a sentence with the mistakes taken back that can be seen."""
    tokens = _possible(tokens)
    found = list(tokens)
    for place, token in enumerate(tokens):
        found[place] = _mended(tokens, place, token)
    for place, token in enumerate(tokens):
        if _is_way_to_work(tokens, place):
            found = [replace(t, head=token.head) if t.head == place else t for t in found]
            found[place - 1] = replace(tokens[place - 1], pos="ADP", tag="IN", dep="prep", head=token.head)
            found[place] = replace(token, pos="NOUN", tag="NN", dep="pobj", head=place - 1)
        elif _is_onto(tokens, place):
            found[place - 1] = replace(tokens[place - 1], pos="ADP", tag="IN", dep="prep", head=token.head)
            found[place] = replace(token, pos="NOUN", tag="NN", dep="pobj", head=place - 1)
            if tokens[place + 1].tag == "CD":
                found[place + 1] = replace(tokens[place + 1], dep="nummod", head=place)
        elif _is_named_second(tokens, place):
            verb, other = token.head, next(i for i, t in enumerate(tokens) if t.head == i)
            found = [
                replace(t, head=verb) if t.head == other and t.dep in ("punct", "conj") else t for t in found
            ]
            found[verb] = replace(found[verb], dep="ROOT", head=verb)
            found[other] = replace(found[other], dep="nsubj", head=verb)
            found[place] = replace(found[place], dep="conj", head=other)
        elif _is_subject_of_be(tokens, place):
            noun = token.head
            found = [replace(t, head=place) if t.head == noun and t.dep == "punct" else t for t in found]
            found = [replace(t, dep="compound") if t.head == noun and t.dep == "nsubj" else t for t in found]
            found[place] = replace(found[place], dep="ROOT", head=place)
            found[noun] = replace(found[noun], pos="NOUN", tag="NN", dep="nsubj", head=place)
        elif (thing := _thing_had(tokens, place)) is not None:
            found[place] = replace(found[place], head=thing)
        elif _is_owning(tokens, place):
            noun = token.head
            thing = next((i for i, t in enumerate(tokens) if t.head == noun and t.dep == "dobj"), noun)
            if thing != noun:  # "has type 1 diabetes"
                found[noun] = replace(found[noun], dep="compound", head=thing)
                noun = thing
                found = [replace(t, head=thing) if t.head == token.head and i != thing and t.dep in _OF_VERBS else t
                         for i, t in enumerate(found)]  # fmt: skip
            found = [replace(t, head=place) if t.head == noun and t.dep in _OF_VERBS else t for t in found]
            found[place] = replace(token, pos="VERB", dep="ROOT", head=place)
            found[noun] = replace(found[noun], dep="dobj", head=place)
    return found


def _possible(tokens: Sequence[Token]) -> list[Token]:
    """A tree without what no English sentence has, such as a name that is a preposition."""
    found = list(tokens)
    for place in range(len(found)):
        for mend in (
            _as_be,
            _as_noun,
            _whole_subject,
            _subject_of_verb,
            _real_verb,
            _object_behind,
            _of_subject,
            _of_verb,
            _whole_object,
            _numbered,
        ):
            mend(found, place)
    return found


def _as_be(found: list[Token], place: int) -> None:
    """ "im still here": written without its apostrophe."""
    token, before = found[place], found[place - 1]
    if place and token.low == "m" and before.low == "i" and before.end == token.begin:
        found[place] = replace(token, pos="AUX", tag="VBP", lemma="be")


def _as_noun(found: list[Token], place: int) -> None:
    """ "Rent for the studio is 640", "Linting is done with ruff": what something is said of is no verb."""
    token = found[place]
    bare = not any(t.head == place and t.dep in (*_SUBJECTS, "aux", "dobj", "neg") for t in found)
    if token.dep in _SUBJECTS and token.tag in ("VB", "VBP", "VBG", "UH") and bare:
        found[place] = replace(token, pos="NOUN", tag="NN", lemma=token.low)


def _whole_subject(found: list[Token], place: int) -> None:
    """ "Games night starts at eight": what something is said of has two words, and no day stands between."""
    token, before = found[place], found[place - 1]
    if (
        place
        and token.dep == "npadvmod"
        and token.tag == "NN"
        and token.head == place + 1
        and before.dep in _SUBJECTS
        and before.head == token.head
        and before.pos in ("NOUN", "PROPN")
        and found[token.head].tag in ("VBZ", "VBD")
    ):
        found[place - 1] = replace(before, dep="compound", head=place)
        found[place] = replace(token, dep=before.dep)


def _subject_of_verb(found: list[Token], place: int) -> None:
    """ "The ferry leaves at 7:40", "Ida and Tom are married": hung as a part of a name, or on the helper."""
    token, head = found[place], found[found[place].head]
    if token.dep in _SUBJECTS and head.dep in ("aux", "auxpass") and head.head != place:
        found[place] = replace(token, head=head.head)
    elif (
        token.dep == "compound"
        and token.pos in ("NOUN", "PROPN")
        and head.tag in ("VBZ", "VBD", "VBP")
        and head.pos == "VERB"
        and place < token.head
        and not any(t.head == token.head and t.dep in _SUBJECTS for t in found)
    ):
        found[place] = replace(token, dep="nsubj")


def _real_verb(found: list[Token], place: int) -> None:
    """ "never touches gluten", "Ida handles payroll": the verb was taken for a helper or a part of the thing."""
    token, noun = found[place], found[place].head
    helps = token.dep == "aux" and token.lemma not in _HELPERS and token.low not in _HELPERS
    named = token.dep == "compound" and token.pos == "VERB"
    if not (helps or named) or token.tag not in ("VBZ", "VBD") or noun <= place:
        return
    for i, other in enumerate(found):
        if other.head == noun and i != noun and (i < place or other.dep in ("punct", "prep", "cc", "conj")):
            found[i] = replace(other, head=place)
    root = found[noun].head == noun
    base = plural(token.low) if token.tag == "VBZ" and token.lemma == token.low else token.lemma
    head = place if root else found[noun].head
    found[place] = replace(token, pos="VERB", dep=found[noun].dep, head=head, lemma=base)
    found[noun] = replace(found[noun], pos="NOUN", tag="NN", dep="dobj", head=place, lemma=found[noun].low)


def _object_behind(found: list[Token], place: int) -> None:
    """ "prod runs Quillbase 4.9": a name right behind the verb is what the verb is about."""
    token, head = found[place], found[found[place].head]
    between = found[token.head + 1 : place]
    if (
        token.pos == "PROPN"
        and token.dep in ("prep", "appos", "xcomp", "ccomp", "advcl", "oprd")
        and head.pos == "VERB"
        and token.head < place
        and all(t.head == place for t in between)
        and not any(t.head == token.head and t.dep in ("dobj", "attr") for t in found)
    ):
        found[place] = replace(token, dep="dobj")


def _of_subject(found: list[Token], place: int) -> None:
    """ "Quote for the roof stands at 14,500": what stands between subject and verb belongs to the subject."""
    token = found[place]
    subject = place - 1
    if (
        token.dep == "prep"
        and subject >= 0
        and place < token.head
        and found[subject].dep in _SUBJECTS
        and found[subject].head == token.head
        and found[subject].pos in ("NOUN", "PROPN")
    ):
        found[place] = replace(token, head=subject)


def _of_verb(found: list[Token], place: int) -> None:
    """ "We stream everything on Hulu", "I smoke about a pack a day": where it is done; how much, roughly."""
    token, head = found[place], found[found[place].head]
    if token.dep != "prep":
        return
    if head.dep == "advmod" and head.low in ("back", "forward") and found[head.head].dep == "dobj":
        found[token.head] = head = replace(head, head=found[head.head].head)
    things = {t.head for t in found[:place] if t.dep == "dobj"}
    away = ("up", "down") if head.head not in things else ("back", "forward", "up", "down")
    if head.dep == "advmod" and head.low in away and found[head.head].pos == "VERB":
        found[place] = replace(token, head=head.head)  # "pushed the report back to April", "goes up to 4.80"
    if head.low in ("everything", "all", "most", "anything") and head.dep == "dobj" and token.low != "of":
        found[place] = replace(token, head=head.head)
    amount = next((i for i, t in enumerate(found) if t.head == place and t.dep == "pobj"), None)
    counted = amount is not None and any(
        t.head == amount and (t.tag == "CD" or t.low in ("a", "an")) for t in found
    )
    done = any(t.head == token.head and t.dep in ("dobj", "attr") for t in found)
    if token.low in ("about", "around", "roughly") and head.lemma in _AMOUNTING and counted and not done:
        assert amount is not None
        found[amount] = replace(found[amount], dep="dobj", head=token.head)
        found[place] = replace(token, pos="ADV", tag="RB", dep="advmod", head=token.head)


def _whole_object(found: list[Token], place: int) -> None:
    """ "had his tetanus shot": a thing of two words, taken for somebody who did something."""
    token, noun = found[place], found[place].head
    verb = found[noun].head
    if (
        token.dep == "nsubj"
        and token.tag == "NN"
        and noun == place + 1
        and found[noun].pos == "NOUN"
        and found[noun].dep == "ccomp"
        and found[verb].lemma in ("have", "get", "need", "book", "want")
    ):
        own = [i for i, t in enumerate(found) if t.head == place and t.dep in ("poss", "det", "amod")]
        found[place] = replace(token, dep="compound")
        found[noun] = replace(found[noun], dep="dobj")
        for i in own:
            found[i] = replace(found[i], head=noun)


def _numbered(found: list[Token], place: int) -> None:
    """ "listens on port 9190": a bare number right behind a thing is the thing's."""
    token, before = found[place], found[place - 1]
    if (
        place
        and token.tag == "CD"
        and token.dep in ("npadvmod", "dobj", "nummod")
        and before.dep in ("pobj", "dobj")
        and before.tag == "NN"
        and token.head in (before.head, found[before.head].head)
        and not any(t.head == place for t in found)
    ):
        found[place] = replace(token, dep="nummod", head=place - 1)
    elif place and token.dep == "appos" and token.head == place - 1 and _CODE.match(token.text):
        found[place] = replace(token, dep="nummod")  # "Server kestrel-04"


_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_AMOUNTING = frozenset(
    "smoke drink eat earn pay cost weigh walk run cycle owe spend make measure charge".split()
)
_HELPERS = frozenset(
    "be have do will would shall should can could may might must ought need dare get go let ca wo sha used".split()
) | frozenset("'s 've 'd 'll 'm 're".split())
_OF_VERBS = frozenset({"nsubj", "prep", "advmod", "npadvmod", "punct", "cc", "conj", "neg", "aux"})


def _is_onto(tokens: Sequence[Token], place: int) -> bool:
    """ "promoted to head of sales", "upgraded to build 91": what it becomes, taken for what it is to do."""
    token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
    aim = (
        token.tag == "VB"
        and place > 0
        and tokens[place - 1].low == "to"
        and tokens[token.head].lemma in _ONTO
    )
    return aim and after is not None and (after.low == "of" or after.tag == "CD")


_ONTO = frozenset("promote demote upgrade downgrade update move switch change migrate appoint bump".split())


def _is_named_second(tokens: Sequence[Token], place: int) -> bool:
    """ "Milo and I split up": the first of the two was taken for the whole sentence."""
    token, head = tokens[place], tokens[tokens[place].head]
    first = tokens[head.head]
    return (
        token.low in ("i", "we", "me")
        and token.dep == "nsubj"
        and head.dep == "conj"
        and head.pos == "VERB"
        and first.dep == "ROOT"
        and first.pos in ("PROPN", "NOUN")
        and place > 0
        and tokens[place - 1].dep == "cc"
    )


def _is_subject_of_be(tokens: Sequence[Token], place: int) -> bool:
    """ "Our team lead is Martin": the noun was taken for the verb."""
    token, head = tokens[place], tokens[tokens[place].head]
    return (
        token.lemma == "be"
        and token.dep == "ccomp"
        and token.head == place - 1
        and head.pos in ("NOUN", "VERB")
        and head.dep == "ROOT"
        and not any(t.head == place and t.dep in _SUBJECTS for t in tokens)
    )


def _thing_had(tokens: Sequence[Token], place: int) -> int | None:
    """ "has the family plan on Tunely", "has a desk at Regus": what is had is there, not the having."""
    token, head = tokens[place], tokens[tokens[place].head]
    if token.dep != "prep" or token.low not in ("on", "with", "at") or head.lemma not in ("have", "get"):
        return None
    things = [i for i, t in enumerate(tokens[:place]) if t.dep == "dobj" and t.head == token.head]
    named = any(t.head == place and t.dep == "pobj" and t.text[:1].isupper() for t in tokens)
    return things[0] if things and things[0] == place - 1 and named and not _is_dated(tokens, place) else None


def _is_dated(tokens: Sequence[Token], place: int) -> bool:
    return any(t.head == place and _CALENDAR.match(t.text) for t in tokens)


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


def as_verb(tokens: Sequence[Token], verbs: Collection[str]) -> tuple[int, str] | None:
    """A word that must be a verb, and what to parse instead, in a sentence without one.

    "My flight leaves at 7:40" has a verb that was taken for a noun, "her name's Comet" one that was
    taken for a possessive.
    """
    if tokens and (said := _opening_verb(tokens, verbs)):
        return 0, f"I {said}"
    if (place := _contracted(tokens)) is not None:
        return place, " is"
    if (place := _behind_name(tokens)) is not None:
        return place, f"will {tokens[place].lemma}"
    if _has_verb(tokens):
        return None
    for place, token in enumerate(tokens):
        if not place:
            continue
        if token.tag == "POS" and token.low in ("'s", "’s") and tokens[place - 1].tag == "NN":
            return place, " is"
        if token.tag not in ("NNS", "NNPS") or not token.text.islower():
            continue
        for base in (token.text[:-1], token.text[:-2], f"{token.text[:-3]}y"):
            if base in verbs:
                return place, f"will {base}"
    return None


def _contracted(tokens: Sequence[Token]) -> int | None:
    """ "Euan's allergic to cats": taken for a possessive, though nothing is owned."""
    for place, token in enumerate(tokens[1:-1], 1):
        owner, after = tokens[token.head], tokens[place + 1]
        if token.dep != "case" or token.low not in ("'s", "’s"):
            continue
        free = owner.dep not in ("poss", "pobj", "dobj", "conj")
        if after.tag in ("DT", "PRP$") or (free and after.tag in ("JJ", "VBN", "VBG", "IN", "RB")):
            return place
    return None


def _behind_name(tokens: Sequence[Token]) -> int | None:
    """The verb of "Bo tunes pianos in Oslo", taken for the plural of a thing: no such verb follows a plural."""
    for place, token in enumerate(tokens[1:], 1):
        name, head = tokens[place - 1], tokens[token.head]
        plural = token.tag in ("NNS", "NNPS") and token.text.islower() and token.lemma != token.low
        named = (
            name.pos == "PROPN" and name.text[:1].isupper() and name.dep == "compound" and name.head == place
        )
        against = head.tag == "VBZ" and token.dep == "nsubj"
        if plural and named and (against or (token.dep == "ROOT" and not _has_finite(tokens))):
            return place
    return None


def _has_finite(tokens: Sequence[Token]) -> bool:
    return any(t.tag in ("VBZ", "VBD", "VBP", "MD") for t in tokens)


def _has_verb(tokens: Sequence[Token]) -> bool:
    return any(t.pos in ("VERB", "AUX") for t in tokens)


def _opening_verb(tokens: Sequence[Token], verbs: Collection[str]) -> str:
    """ "Cancelled Spotify, …", "Love basil": the first word was taken for a part of the name behind it."""
    first, low = tokens[0], tokens[0].low
    if (
        first.pos not in ("PROPN", "NOUN", "ADJ")
        or first.dep not in ("compound", "amod", "nmod")
        or not first.head
    ):
        return ""
    regular = [low[:-1], low[:-2], f"{low[:-3]}y", low[:-3]] if low.endswith("ed") else []
    bases = [base_of(low), *regular]
    told = any(base in verbs for base in bases if base)
    return low if told or low in ("love", "hate") else ""


def with_verb(verb: Token, instead: str, again: Sequence[Token]) -> list[Token] | None:
    """The sentence as it was parsed with other words in the place of `verb`, with the words that were said."""
    end = verb.begin + len(instead)
    inside = [i for i, t in enumerate(again) if verb.begin <= t.begin < end]
    if not inside or again[inside[-1]].pos not in ("VERB", "AUX"):
        return None
    out, at = inside[:-1], inside[-1]
    found = []
    for i, token in enumerate(again):
        if i in out:
            continue
        head = token.head if token.head not in out else at
        token = replace(token, head=head - sum(k < head for k in out))
        if i == at:
            tag = token.tag if instead.startswith("I ") else "VBZ"
            token = replace(token, text=verb.text, tag=tag, begin=verb.begin, end=verb.end)
        elif token.begin >= end:
            moved = len(instead) - (verb.end - verb.begin)
            token = replace(token, begin=token.begin - moved, end=token.end - moved)
        found.append(token)
    return found


def _mended(tokens: Sequence[Token], place: int, token: Token) -> Token:
    head = tokens[token.head]
    if _is_called_out(tokens, place):
        return replace(token, dep="intj")
    if token.low in ("'s", "’s") and token.dep in ("aux", "auxpass") and head.low in _NEVER_PASSIVE:
        return replace(token, lemma="have", dep="aux")
    if token.dep == "nsubjpass" and head.low in _NEVER_PASSIVE:
        return replace(token, dep="nsubj")
    if (
        token.dep == "acomp"
        and head.lemma == "be"
        and token.text[:1].isupper()
        and token.text.isalpha()
        and not token.low.endswith(("an", "ish", "ese", "ch", "ic", "i", "ed"))
    ):
        return replace(token, pos="PROPN", tag="NNP", dep="attr", lemma=token.text)
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
    if token.pos in ("VERB", "X", "INTJ") and token.dep in _ROLES and _is_counted(tokens, place):
        return replace(token, pos="NOUN", tag="NN", lemma=token.low)
    if _is_unknown_object(tokens, place, token) or _is_bare(tokens, place, token):
        return replace(token, pos="NOUN", tag="NN", dep="dobj", lemma=token.low)
    if _is_unknown_name(tokens, place, token):
        return replace(token, pos="PROPN", tag="NNP", dep="nsubj", lemma=token.text)
    return token


def _is_called_out(tokens: Sequence[Token], place: int) -> bool:
    """ "I'm here for you, Mel!": a name between a comma and the end is whom it is said to."""
    token = tokens[place]
    last = place + 1 == len(tokens) or tokens[place + 1].pos == "PUNCT"
    apart = place > 2 and tokens[place - 1].text == "," and last and token.dep in ("attr", "npadvmod")
    return apart and token.pos == "PROPN" and not _CALENDAR.match(token.text)


def _is_counted(tokens: Sequence[Token], place: int) -> bool:
    """ "Pump 3 tripped", "the spring": an article or a number makes a noun of any word."""
    return any(t.head == place and t.dep in ("nummod", "det", "poss") for t in tokens)


def _is_unknown_name(tokens: Sequence[Token], place: int, token: Token) -> bool:
    """ "Bo lives in Porto": the name was taken for an adjective of the verb, which has no other subject."""
    head = tokens[token.head]
    return (
        token.pos == "ADJ"
        and token.dep == "amod"
        and token.text[:1].isupper()
        and token.head == place + 1
        and head.tag in ("VBZ", "VBD")
        and not any(t.head == token.head and t.dep in ("nsubj", "nsubjpass", "expl") for t in tokens)
    )


_NEVER_PASSIVE = frozenset(
    "been moved gone come arrived become grown retired started quit had got happened".split()
)
""" "Dad's moved": what stands in front of these is "has"."""
_WITH_VERBS = frozenset("help make let go come dare see hear watch feel have need be do".split())


def _is_bare(tokens: Sequence[Token], place: int, token: Token) -> bool:
    """ "eat gluten", "have got a little flat": a verb right behind a verb, or an adjective behind an article."""
    head = tokens[token.head]
    alone = not any(t.head == place and t.dep not in ("punct", "amod", "det") for t in tokens)
    if token.tag == "VB" and token.dep in ("advcl", "xcomp", "ccomp") and token.head == place - 1:
        return alone and head.pos == "VERB" and head.lemma not in _WITH_VERBS
    start = place
    while start > 0 and tokens[start - 1].tag == "JJ":
        start -= 1
    led = start > 0 and tokens[start - 1].low in ("a", "an", "the")
    return token.dep == "acomp" and head.lemma in ("have", "get") and led and alone


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
