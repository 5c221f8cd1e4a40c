"""Repairs of what the parser gets wrong about single words, where the rest of the sentence shows it.

Words that it never met are guessed to be adjectives or verbs: codes and passwords ("is tulip-9090"),
foods and plants ("I hate cilantro"), surnames ("Amina Said joined"). Where a word stands decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import is_given_name
from worldline.reading.families import PARTICLES, base_of, families, past, plural
from worldline.reading.hung import TOWARDS, coloured, joined_object, listed, painted, then_another
from worldline.reading.parser import Token
from worldline.text import stop

_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w@#./:+-]+$|\S+@\S+\.\w+$")
_CALENDAR = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.I
)
_ROLES = frozenset({"nsubj", "nsubjpass", "dobj", "pobj"})
_LINKING = frozenset("be become get stay remain turn go seem look feel sound grow come".split())
_WAYS = frozenset("go cycle walk drive commute come bike run ride get travel".split())


def mended(tokens: Sequence[Token]) -> Sequence[Token]:
    """The words of a sentence with the mistakes taken back that can be seen; as they were where that gives no tree."""
    for mend in (_possible, _changed, listed):
        found = mend(tokens)
        tokens = found if is_tree(found) else tokens
    return tokens


def is_tree(tokens: Sequence[Token]) -> bool:
    """Whether every word leads up to one that leads to itself."""
    sound: set[int] = set()
    for place in range(len(tokens)):
        way: set[int] = set()
        while place not in sound and tokens[place].head != place:
            if place in way:
                return False
            way.add(place)
            place = tokens[place].head
        sound |= way
    return True


def _changed(tokens: Sequence[Token]) -> list[Token]:
    found = list(tokens)
    for place, token in enumerate(tokens):
        found[place] = _mended(tokens, place, token)
    for place, token in enumerate(tokens):
        if _is_behind_to(tokens, place):
            found = _with_place(found, place)
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
            found = [
                replace(t, head=place) if t.head == noun and t.dep in ("punct", "intj") else t for t in found
            ]
            found = [replace(t, dep="compound") if t.head == noun and t.dep == "nsubj" else t for t in found]
            above = place if tokens[noun].head == noun else tokens[noun].head
            found[place] = replace(found[place], dep=tokens[noun].dep, head=above)
            found[noun] = replace(found[noun], pos="NOUN", tag="NN", dep="nsubj", head=place)
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
            _as_be, _behind_particle, _given_up, _voted_in, _went_live, _paid_whom, _marked_as,
            _up_to, _made_what, _as_noun, _as_present, _subject_of_verb, _real_verb, _of_verb, _of_place,
            _numbered, coloured, painted, _compound, _set_apart, joined_object, then_another, _picked_out,
            _next_to, _two_objects, _o_clock, _owner_by_role, _told_of, _with_me, _called_so,
        ):  # fmt: skip
            mend(found, place)
    return found


def _called_so(found: list[Token], place: int) -> None:
    """ "got a parrot called Polly": what it is called, and no part of the name."""
    token, name = found[place], found[found[place].head]
    if (
        token.low in ("called", "named")
        and token.dep == "amod"
        and name.dep == "appos"
        and token.head > place
    ):
        found[token.head] = replace(name, dep="oprd", head=place)
        found[place] = replace(token, dep="acl", head=name.head)


def _with_me(found: list[Token], place: int) -> None:
    """ "Karin and I broke up": whoever is named beside me is somebody, and both of us did it."""
    if place < 2 or found[place].text != "I" or found[place - 1].low != "and":
        return
    at, other = place - 2, found[place - 2]
    verb = found[place].head if found[place].dep == "nsubj" else other.head
    opens = at == 0 or found[at - 1].low in (",", "but", "so", "when", "because", "that", "since")
    if (
        not opens
        or not other.text[:1].isupper()
        or other.pos not in ("NOUN", "PROPN", "ADJ", "X")
        or found[verb].pos not in ("VERB", "AUX")
    ):
        return
    if found[verb].head == at:
        above = verb if other.head == at else other.head
        moved = [i for i, token in enumerate(found) if token.head == at and i > place and i != verb]
        found[verb] = replace(found[verb], dep=other.dep, head=above)
        for i in moved:
            found[i] = replace(found[i], head=verb)
    found[at] = replace(other, tag="NNP", pos="PROPN", dep="nsubj", head=verb)
    found[place - 1] = replace(found[place - 1], dep="cc", head=at)
    found[place] = replace(found[place], dep="conj", head=at)


def _as_be(found: list[Token], place: int) -> None:
    """ "im still here", "shes asking": written without its apostrophe."""
    token, before = found[place], found[place - 1]
    if place and (before.low, token.low) in _RUN_ON and before.end == token.begin:
        found[place] = replace(token, pos="AUX", tag="VBP" if token.low == "m" else "VBZ", lemma="be")


_RUN_ON = frozenset(
    {("i", "m"), *((who, "s") for who in ("he", "she", "it", "that", "there", "who", "what"))}
)


def _behind_particle(found: list[Token], place: int) -> None:
    """ "wrote off the car": what stands behind a particle is the verb's own object."""
    token = found[place]
    if token.dep == "pobj" and found[token.head].dep == "prt":
        found[place] = replace(token, dep="dobj", head=found[token.head].head)


def _given_up(found: list[Token], place: int) -> None:
    """ "quit smoking six weeks ago": a noun is no second verb; what somebody quits is not his job then."""
    token = found[place]
    if token.dep == "xcomp" and token.pos == "NOUN" and found[token.head].low in ("quit", "quits"):
        found[place] = replace(token, dep="dobj")


def _voted_in(found: list[Token], place: int) -> None:
    """ "voted in as treasurer": a preposition with nothing behind it is the verb's particle."""
    token = found[place]
    after = found[place + 1] if place + 1 < len(found) else token
    bare = token.dep == after.dep == "prep" and after.head == token.head and token.low in PARTICLES
    if bare and found[token.head].pos == "VERB" and not any(t.head == place for t in found):
        found[place] = replace(token, pos="ADP", tag="RP", dep="prt")


def _went_live(found: list[Token], place: int) -> None:
    """ "The site went live": how something is, and not how it went."""
    token = found[place]
    if token.low in _BEING_SO and token.dep == "advmod" and found[token.head].lemma in ("go", "be", "come"):
        found[place] = replace(token, pos="ADJ", tag="JJ", dep="acomp")


_BEING_SO = frozenset({"live", "public", "online", "offline"})


def _paid_whom(found: list[Token], place: int) -> None:
    """ "charged us £240": the amount is what is charged, and we are those who are."""
    token = found[place]
    priced = token.pos == "NUM" and any(t.head == place and t.tag == "$" for t in found)
    if token.dep not in ("npadvmod", "dobj") or not priced:
        return
    for at, other in enumerate(found[:place]):
        if (
            other.head == token.head
            and other.dep == "dobj"
            and (other.pos == "PRON" or is_given_name(other.low))
        ):
            found[at] = replace(other, dep="dative")
            found[place] = replace(token, dep="dobj")


def _marked_as(found: list[Token], place: int) -> None:
    """ "marked the ticket as done", "set to urgent": a state that something is put into."""
    token, verb = found[place], found[found[place].head]
    led = place - 1
    if token.dep not in ("advcl", "xcomp") or verb.lemma not in _PUTTING or found[led].head != place:
        return
    if found[led].low in ("as", "to") and families().by_word(token.low):
        found[led] = replace(found[led], pos="ADP", tag="IN", dep="prep", head=token.head)
        found[place] = replace(token, pos="ADJ", tag="JJ", dep="pobj", head=led)


_PUTTING = frozenset("mark flag set label list tag classify change move switch put".split())


def _next_to(found: list[Token], place: int) -> None:
    """ "is next to the window", "live next door to the bakery": where something is, and not how."""
    token = found[place]
    to = place + (2 if place + 1 < len(found) and found[place + 1].low == "door" else 1)
    if (
        token.low != "next"
        or to >= len(found)
        or found[to].low != "to"
        or found[to].dep not in ("prep", "aux")
    ):
        return
    verb = next((at for at in range(place - 1, -1, -1) if found[at].pos in ("VERB", "AUX")), place)
    if verb == place or not any(t.head == to and t.dep == "pobj" for t in found):
        return
    for at in range(place, to):
        found[at] = replace(
            found[at], dep="advmod" if at == place else "npadvmod", head=verb if at == place else place
        )
    found[place] = replace(found[place], pos="ADV", tag="RB")
    found[to] = replace(found[to], head=place)


def _up_to(found: list[Token], place: int) -> None:
    """ "went up to £450", "put the ticket up to £5": something came to an amount, which is no most of anything."""
    token, up = found[place], found[place - 1]
    number = token.head
    if token.low != "to" or token.dep != "quantmod" or up.low not in ("up", "down") or number <= place:
        return
    amount = found[number].head if found[number].dep == "nummod" else number
    if found[amount].dep not in ("npadvmod", "attr", "dobj") and found[amount].head != place - 1:
        return
    verb = next((at for at in range(place - 1, -1, -1) if found[at].pos in ("VERB", "AUX")), -1)
    if verb < 0 or found[verb].lemma not in _COMING_TO:
        return
    found[place] = replace(token, pos="ADP", tag="IN", dep="prep", head=verb)
    found[place - 1] = replace(up, pos="ADV", tag="RB", dep="advmod", head=verb)
    found[amount] = replace(found[amount], dep="pobj", head=place)


_COMING_TO = frozenset(
    "be go come rise climb creep shoot jump put push bring raise move take get drop fall hike bump mark".split()
)


def _made_what(found: list[Token], place: int) -> None:
    """ "appointed Rosa treasurer": who is in front of a role that somebody is made is no part of its name."""
    token, verb = found[place], found[found[place].head]
    if token.dep != "dobj" or verb.lemma not in _MAKING or token.pos != "NOUN":
        return
    named = any(n.family.object == "person" for n in families().by_noun(token.lemma))
    if not named and token.lemma not in words("professions.txt") | words("person_roles.txt"):
        return
    whom = [at for at, t in enumerate(found) if t.head == place and t.dep == "compound" and t.pos == "PROPN"]
    if not whom or token.head > whom[0] or any(t.head == place and t.dep in ("det", "poss") for t in found):
        return
    for at in whom[:-1]:
        found[at] = replace(found[at], head=whom[-1])
    found[whom[-1]] = replace(found[whom[-1]], dep="dobj", head=token.head)
    found[place] = replace(token, dep="oprd")


_MAKING = frozenset("appoint make name elect crown vote choose pick nominate".split())


def _as_noun(found: list[Token], place: int) -> None:
    """ "Rent for the studio is 640", "Linting is done with ruff": what something is said of is no verb."""
    token = found[place]
    said_of = token.dep in _SUBJECTS and token.tag in ("VB", "VBP", "VBG", "UH")
    said_of = said_of or (token.tag == "VBG" and (token.dep == "dobj" or _is_joined_noun(found, place)))
    if said_of and not any(t.head == place and t.dep in (*_SUBJECTS, "aux", "dobj") for t in found):
        found[place] = replace(token, pos="NOUN", tag="NN", lemma=token.low)


def _is_joined_noun(found: Sequence[Token], place: int) -> bool:
    head = found[found[place].head]
    return found[place].dep == "conj" and head.pos == "NOUN" and head.low.endswith("ing")


def _as_present(found: list[Token], place: int) -> None:
    """ "They run a guesthouse": the past would be "ran"."""
    token = found[place]
    told = token.tag in ("VBD", "VBN") and not past(token.low, token.low).endswith(("ed", token.low))
    helped = told and any(t.head == place and t.dep in ("aux", "auxpass") for t in found)
    if told and not helped and token.dep != "acl":
        found[place] = replace(token, tag="VBP")


def _subject_of_verb(found: list[Token], place: int) -> None:
    """ "The ferry leaves at 7:40", "Ida and Tom are married": hung as a part of a name, or on the helper."""
    token, head = found[place], found[found[place].head]
    if token.dep in _SUBJECTS and head.dep in ("aux", "auxpass") and head.head != place:
        found[place] = replace(token, head=head.head)
    elif token.dep == "advmod" and token.pos == "PROPN" and head.low in ("does", "did", "is", "has"):
        found[place] = replace(token, dep="nsubj")  # "neither does Yolanda"
    elif place == 0 and token.dep in ("aux", "advmod") and token.head == 1 and _is_name(token, head):
        found[place] = replace(token, pos="PROPN", tag="NNP", dep="nsubj", lemma=token.text)
    elif (
        token.dep == "compound"
        and token.pos in ("NOUN", "PROPN")
        and head.tag in ("VBZ", "VBD", "VBP")
        and head.pos == "VERB"
        and place < token.head
        and not any(t.head == token.head and t.dep in _SUBJECTS for t in found)
    ):
        found[place] = replace(token, dep="nsubj")


def _is_name(token: Token, verb: Token) -> bool:
    """ "Femke waters the plants": taken for an adverb, but somebody must do it."""
    unknown = verb.tag == "VBZ" and not token.low.endswith("ly") and token.low not in stop() | _ADVERBS
    return token.text[:1].isupper() and (token.tag == "NNP" or is_given_name(token.text) or unknown)


_ADVERBS = frozenset(
    "sometimes often always never now then today still also just maybe perhaps here there soon".split()
)


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


def _of_verb(found: list[Token], place: int) -> None:
    """ "We stream everything on Hulu", "I smoke about a pack a day": where it is done; how much, roughly."""
    token, head = found[place], found[found[place].head]
    if token.dep != "prep":
        return
    if head.tag == "CD" and head.dep == "pobj" and token.low in ("at", "in", "for", "with"):
        verb = token.head  # "a crew of nine at the harbour office"
        while found[verb].pos not in ("VERB", "AUX") and found[verb].head != verb:
            verb = found[verb].head
        found[place] = replace(token, head=verb)
    if head.dep == "advmod" and head.low in ("back", "forward") and found[head.head].dep == "dobj":
        found[token.head] = head = replace(head, head=found[head.head].head)
    things = {t.head for t in found[:place] if t.dep == "dobj"}
    away = ("up", "down") if head.head not in things else ("back", "forward", "up", "down")
    if head.dep in ("advmod", "prt") and head.low in away and found[head.head].pos == "VERB":
        found[place] = replace(token, head=head.head)  # "pushed the report back to April", "goes up to 4.80"
    if (
        head.low in ("everything", "all", "most", "anything")
        and head.dep in ("dobj", "pobj")
        and token.low != "of"
    ):
        found[place] = replace(token, head=head.head if head.dep == "dobj" else found[head.head].head)
    amount = next((i for i, t in enumerate(found) if t.head == place and t.dep == "pobj"), None)
    counted = amount is not None and any(
        t.head == amount and (t.tag == "CD" or t.low in ("a", "an")) for t in found
    )
    done = any(t.head == token.head and t.dep in ("dobj", "attr") for t in found)
    if token.low in ("about", "around", "roughly") and head.lemma in _AMOUNTING and counted and not done:
        assert amount is not None
        found[amount] = replace(found[amount], dep="dobj", head=token.head)
        found[place] = replace(token, pos="ADV", tag="RB", dep="advmod", head=token.head)


def _of_place(found: list[Token], place: int) -> None:
    """ "moved into the flat on Elm Street": a name right behind a place says which one it is."""
    token, before = found[place], found[place - 1]
    behind = found[place + 1 :] if token.dep == "prep" else ()
    name = next((t for t in behind if t.head == place and t.dep == "pobj"), None)
    named = name is not None and name.pos == "PROPN" and not _CALENDAR.match(name.text)
    if (
        place
        and token.low in ("on", "in", "near")
        and before.dep in ("pobj", "dobj")
        and before.tag in ("NN", "JJ")
        and before.text.islower()
        and (
            (before.lemma in _SITES and token.head == before.head)
            or (
                found[before.head].low in ("into", "to", "at", "in", "from", "for")
                and token.head == found[before.head].head
            )
        )
        and found[token.head].pos in ("VERB", "AUX")
        and any(t.head == place - 1 and t.dep in ("det", "poss") for t in found)
        and named
    ):
        found[place] = replace(token, head=place - 1)
        found[place - 1] = replace(before, pos="NOUN", tag="NN", lemma=before.low)


_SITES = frozenset(
    "flat house apartment cottage studio shop office cafe café room plot land field farm".split()
)


def _compound(found: list[Token], place: int) -> None:
    """ "My team lead is Tom": a noun is no subject of the noun behind it."""
    token = found[place]
    noun = found[place + 1] if token.head == place + 1 else None
    if noun is None or token.dep != "nsubj" or (token.pos, noun.pos) != ("NOUN", "NOUN"):
        return
    if noun.dep != "nsubj" or found[noun.head].pos not in ("AUX", "VERB"):
        return
    for at, other in enumerate(found):
        if other.head == place:
            found[at] = replace(other, head=place + 1)
    found[place] = replace(token, dep="compound")


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


def _set_apart(found: list[Token], place: int) -> None:
    """ "tea, not coffee", "Paula, not Rita, runs it": the denial belongs to what stands behind it."""
    token, before = found[place], found[place - 1]
    if not place or token.low not in ("not", "only") or before.text not in (",", "but"):
        return
    other = next((i for i in range(place + 1, min(place + 5, len(found))) if found[i].pos in _THINGS), None)
    if other is None:
        return
    while found[other].dep == "compound" and found[other].head > other:
        other = found[other].head
    first = found[other].head if found[other].dep in ("appos", "conj") else _last_object(found, place)
    if found[other].dep not in ("appos", "conj", "dobj", "attr", "npadvmod", "acomp") or first is None:
        return
    if (found[first].pos == "PROPN") == (found[other].pos == "PROPN"):
        found[place] = replace(token, dep="neg" if token.low == "not" else "advmod", head=other)
        found[other] = replace(found[other], dep="conj", head=first)
        for i in (k for k in range(place - 1) if found[k].head == other):
            found[i] = replace(found[i], dep="advmod", head=found[first].head)  # "coffee any more, only tea"
    elif token.head == first:
        found[place] = replace(token, head=other)


def _last_object(found: Sequence[Token], place: int) -> int | None:
    """The last thing in front of a place that a verb is about."""
    objects = [
        i for i, t in enumerate(found[:place]) if t.dep in ("dobj", "attr", "pobj") and t.pos in _THINGS
    ]
    return objects[-1] if objects else None


def _picked_out(found: list[Token], place: int) -> None:
    """ "It was Amina who organised it": she did."""
    token, be = found[place], found[place].head
    be_it = token.dep == "ccomp" and found[be].lemma == "be"
    who = be_it and any(t.head == place and t.dep in _SUBJECTS and t.low in ("who", "that") for t in found)
    named = [i for i, t in enumerate(found[:place]) if t.head == be and t.dep == "attr"] if who else []
    if named and any(t.head == be and t.dep == "nsubj" and t.low == "it" for t in found):
        found[place] = replace(token, dep="relcl", head=named[-1])
    clause = found[token.head].head  # "It wasn't Petra who called but Jan"
    joined = token.dep == "conj" and any(t.head == token.head and t.low == "but" for t in found[:place])
    if joined and found[clause].dep == "relcl" and found[found[clause].head].dep == "attr":
        first = found[clause].head
        for i, t in enumerate(found):
            if i == place or (t.head == token.head and t.dep == "cc" and i < place):
                found[i] = replace(t, head=first)


def _o_clock(found: list[Token], place: int) -> None:
    """ "closes at quarter to six", "up at half past five": one time of day."""
    if (
        place < 3
        or found[place - 1].low not in ("past", "to")
        or found[place - 2].low not in ("half", "quarter")
    ):
        return
    at = verb = place - 3 if found[place - 3].low != "a" else place - 4
    if found[at].pos != "ADP" or found[place].tag != "CD":
        return
    verb = found[at].head if found[at].dep == "prep" else found[place].head
    found[at] = replace(found[at], dep="prep", head=verb)
    found[place] = replace(found[place], dep="pobj", head=at)
    for i in (place - 1, place - 2):
        found[i] = replace(found[i], pos="NOUN", dep="quantmod", head=place)


def _owner_by_role(found: list[Token], place: int) -> None:
    """ "in her uncle Bart's shed": the shed is Bart's, and it is in that."""
    name, mark = (found[place + 1], found[place + 2]) if place + 3 < len(found) else (None, None)
    role = found[place]
    if name is None or mark is None or name.pos != "PROPN" or mark.tag != "POS":
        return
    rest = range(place + 3, min(place + 6, len(found)))
    thing = next((i for i in rest if found[i].pos == "NOUN" and found[i].dep != "compound"), None)
    if thing is None or role.low not in words("person_roles.txt"):
        return
    if found[thing].head == place:
        found[thing] = replace(found[thing], dep=role.dep, head=thing if role.head == place else role.head)
    found[place] = replace(role, dep="compound", head=place + 1)
    found[place + 1] = replace(name, dep="poss", head=thing)
    found[place + 2] = replace(mark, dep="case", head=place + 1)


def _told_of(found: list[Token], place: int) -> None:
    """ "The woman who runs our club, Thea Boone, …", "the man who fixed it, whose …": of her, not of the club."""
    token, noun = found[place], found[place].head
    verb = found[noun].head if found[noun].dep != "pobj" else found[found[noun].head].head
    whose = token.dep == "relcl" and any(t.low == "whose" for t in found[noun:place])
    apart = (
        token.dep == "appos"
        and token.pos == "PROPN"
        and place + 1 < len(found)
        and found[place + 1].text == ","
    )
    somebody = found[verb].dep == "relcl" and found[found[verb].head].lemma in _SOMEBODY
    if (whose or apart) and somebody and found[noun].lemma not in words("person_roles.txt"):
        found[place] = replace(token, head=found[verb].head)


_SOMEBODY = frozenset("man woman guy lady person girl boy".split())


def _two_objects(found: list[Token], place: int) -> None:
    """ "sold it to my cousin Bara", "costs us 310": a name behind a role is its name; who pays is no price."""
    token, before = found[place], found[place - 1]
    if not place or token.dep not in ("dobj", "pobj"):
        return
    if token.pos == "PROPN" and before.dep == "pobj" and before.low in words("person_roles.txt"):
        found[place] = replace(token, dep="appos", head=place - 1)
    given = before.pos == "PRON" and before.dep == "dobj" and before.head == token.head
    if token.tag == "CD" and given:
        found[place - 1] = replace(before, dep="dative")


_THINGS = frozenset({"NOUN", "PROPN", "NUM"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_AMOUNTING = frozenset(
    "smoke drink eat earn pay cost weigh walk run cycle owe spend make measure charge".split()
)
_HELPERS = frozenset(
    "be have do will would shall should can could may might must ought need dare get go let ca wo sha used".split()
) | frozenset("'s 've 'd 'll 'm 're".split())
_OF_VERBS = frozenset({"nsubj", "prep", "advmod", "npadvmod", "punct", "cc", "conj", "neg", "aux"})


def _is_behind_to(tokens: Sequence[Token], place: int) -> bool:
    """Where somebody goes or what something becomes, taken for what is to be done.

    "moved to Harbour Square", "promoted to team lead", "upgraded to build 91", "cycle to work", "allergic to nuts"
    """
    token, head = tokens[place], tokens[tokens[place].head]
    to = next(
        (i for i in range(max(0, place - 4), place) if tokens[i].low == "to" and tokens[i].head == place),
        None,
    )
    if to is None or tokens[to].dep != "aux" or token.dep not in ("xcomp", "advcl"):
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    named = token.tag.startswith("NN") or token.text[:1].isupper()
    led = any(t.head == place and t.dep == "nsubj" for t in tokens[to + 1 : place])
    alone = not any(t.head == place and t.dep in ("dobj", "prep", "advmod", "xcomp") for t in tokens)
    work = token.low == "work" and head.lemma in _WAYS and alone
    onto = head.lemma in _ONTO and after is not None and (after.low == "of" or after.tag == "CD")
    return named or led or work or onto or (head.low in TOWARDS and alone)


def _with_place(tokens: list[Token], place: int) -> list[Token]:
    """The same with a preposition and what stands behind it."""
    token, verb = tokens[place], tokens[place].head
    to = next(i for i in range(place - 1, -1, -1) if tokens[i].low == "to" and tokens[i].head == place)
    second = next((i for i, t in enumerate(tokens) if t.head == place and t.dep == "dobj"), place)
    last = second if second == place + 1 and tokens[second].pos == "PROPN" else place
    found = [replace(t, head=verb) if t.head == place and i > last else t for i, t in enumerate(tokens)]
    found[to] = replace(tokens[to], pos="ADP", tag="IN", dep="prep", head=verb)
    for i in range(to + 1, last):
        loose = found[i].head == place or i == place
        found[i] = (
            replace(found[i], pos="NOUN", dep="compound", head=last) if loose and i != last else found[i]
        )
    pos, tag = ("PROPN", "NNP") if token.text[:1].isupper() else ("NOUN", "NN")
    found[last] = replace(tokens[last], pos=pos, tag=tag, dep="pobj", head=to, lemma=tokens[last].text)
    if last + 1 < len(found) and (tokens[last + 1].tag == "CD" or tokens[last + 1].low == "of"):
        dep = "nummod" if tokens[last + 1].tag == "CD" else "prep"
        found[last + 1] = replace(tokens[last + 1], dep=dep, head=last)
    return found


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
        and head.dep in ("ROOT", "advcl", "ccomp")
        and not any(t.head == place and t.dep in _SUBJECTS for t in tokens)
    )


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
    if token.text == "IT" and token.pos == "PRON":
        return replace(token, pos="PROPN", tag="NNP", lemma="IT")
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
    """ "I'm here for you, Mel!", "Mel, Tom is here", "Mel I'm here": a name by itself is whom it is said to."""
    token = tokens[place]
    if token.pos == "PROPN" and place + 2 < len(tokens) and all(t.pos == "INTJ" for t in tokens[:place]):
        after = tokens[place + 1]
        told = any(t.head == token.head and t.dep in _SUBJECTS for t in tokens[place + 1 :])
        return (
            told
            and token.dep in ("npadvmod", *_SUBJECTS, "dep")
            and (after.text == "," or after.low in ("i", "we"))
        )
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
