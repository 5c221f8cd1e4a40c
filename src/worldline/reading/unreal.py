"""What a clause only imagines, reports or aims at: nobody says that it is so.

"If we had kids, we would move", "gossip says that Tom left", "to keep it tidy"
"""

from __future__ import annotations

from worldline.lexicon import words
from worldline.reading.tree import Tree

_IMAGINED = frozenset({"may", "might", "could", "would", "should", "'d", "ought"})
_CONDITION = frozenset({"if", "unless", "whether", "suppose", "supposing", "imagine", "lest", "once"})
_OPINIONS = frozenset("think claim believe reckon guess suspect assume insist bet fear argue".split())
"""What somebody else only thinks is not so by that."""
_BELIEVED = frozenset("think believe reckon guess assume".split())
"""Told of the past: it has turned out otherwise."""
_SURE = frozenset("convinced sure certain adamant positive".split())


def is_unreal(tree: Tree, at: int, low: set[str]) -> bool:
    """Only imagined: could, would, if; or inside something hoped, wondered or denied."""
    if {tree.tokens[i].low for i in tree.kids(at, "advmod")} & {
        "basically",
        "practically",
        "literally",
        "almost",
        "nearly",
    }:
        return True
    if tree.tokens[0].low in ("wish", "suppose", "imagine", "if") or _is_assumed(tree):
        return True
    if any(tree.tokens[i].low == "just" for i in tree.kids(at, "advmod")) and tree.tokens[at].lemma == "want":
        return True  # "I just want to sleep": a wish of the moment
    first = tree.tokens[0]
    if any(t.low == "dream" and t.dep == "pobj" and tree.tokens[t.head].low == "in" for t in tree.tokens):
        return True
    if (
        first.low in ("had", "were", "should")
        and first.dep == "aux"
        and not _is_had_done(tree)
        and at in (first.head, *tree.above(first.head))
    ):
        return True  # "Had we bought it, we'd be broke"
    if low & {"will", "'ll", "wo"} and (
        _has_condition(tree, at) or tree.tokens[0].low in ("maybe", "perhaps")
    ):
        return True
    if low & _IMAGINED and not ("'d" in low and tree.tokens[at].tag == "VBN"):
        return True
    place = at
    while True:
        token = tree.tokens[place]
        if any(tree.tokens[i].low in _CONDITION for i in tree.kids(place, "mark", "advmod")):
            return True
        if token.dep == "conj" and tree.tokens[token.head].lemma in ("suppose", "imagine", "pretend"):
            return True
        if token.head == place or token.dep in ("ROOT", "parataxis") or stands_alone(tree, place):
            break
        above = tree.tokens[token.head]
        helped = {tree.tokens[i].low for i in tree.kids(token.head, "aux")}
        if token.dep in ("ccomp", "xcomp") and (
            above.lemma in words("imagining_verbs.txt") or helped & _IMAGINED
        ):
            return True
        if token.dep in ("acl", "ccomp", "relcl") and above.lemma in _HEARSAY:
            return True
        if token.dep == "ccomp" and above.lemma in ("tell", "say") and _is_told_around(tree, token.head):
            return True
        if token.dep == "ccomp" and above.lemma == "be" and tree.kids(token.head, "neg"):
            return True
        told = above.tag == "VBD" and above.lemma in _BELIEVED  # "I thought she was a lawyer"
        if token.dep == "ccomp" and above.lemma in _OPINIONS and (told or not _is_mine(tree, token.head)):
            return True
        sure = above.head if above.dep == "acomp" else token.head
        if token.dep == "ccomp" and above.low in _SURE and not _is_mine(tree, sure):
            return True  # "Hilde's convinced that it closes at six"
        if (
            token.dep == "ccomp"
            and tree.kids(token.head, "neg")
            and above.lemma in ("think", "say", "believe", "know")
        ):
            return True
        if (
            token.dep in ("ccomp", "advcl")
            and above.lemma in ("suppose", "imagine", "say", "pretend")
            and above.tag == "VB"
        ) and not tree.kids(token.head, "nsubj", "aux"):
            return True
        until = {tree.tokens[i].low for i in tree.kids(place, "mark")} & {"until", "till"}
        place = token.head
        if token.dep == "relcl" or (token.dep == "advcl" and until):
            break
        if token.dep in ("conj",) and {tree.tokens[i].low for i in tree.kids(place, "aux")} & _IMAGINED:
            return not tree.kids(at, "nsubj")
    return False


def _is_assumed(tree: Tree) -> bool:
    """ "Let's say a litre costs two euros"."""
    first = [t.low for t in tree.tokens[:3]]
    return first[:1] == ["let"] and first[-1] in ("say", "assume", "pretend", "suppose", "imagine")


def _is_had_done(tree: Tree) -> bool:
    """ "Had the landline cut off": somebody let it be done; "Had we known, we would …" is imagined."""
    verb = tree.tokens[0].head
    whom = tree.kid(verb, "nsubj", "nsubjpass")
    thing = whom is not None and tree.tokens[whom].pos == "NOUN" and tree.tokens[verb].tag == "VBN"
    return thing and not any(t.low in _IMAGINED for t in tree.tokens)


def _is_told_around(tree: Tree, at: int) -> bool:
    """ "keeps telling people that we moved": whoever says it to everybody need not be right."""
    whom = {tree.tokens[i].low for i in tree.kids(at, "dobj", "dative")}
    if any(tree.tokens[i].low in _GOSSIP for i in tree.kids(at, "nsubj")):
        return True
    again = tree.tokens[at].tag == "VBG" and tree.tokens[tree.tokens[at].head].lemma in ("keep", "go")
    return again or not whom.isdisjoint({"people", "everyone", "everybody", "anyone", "anybody"})


def is_aim(tree: Tree, at: int) -> bool:
    """ "to keep it tidy", "helps us find peace", "while hiking": named, but nobody says that it is so."""
    token = tree.tokens[at]
    if token.tag == "VBG":
        marks = {tree.tokens[i].low for i in tree.kids(at, "mark", "advmod", "prep")}
        return token.dep == "advcl" and not marks.isdisjoint(_MEANWHILE)
    if token.tag != "VB" or token.dep in ("ROOT", "xcomp", "parataxis") or stands_alone(tree, at):
        return False
    if _is_gone_to(tree, at):
        return False
    while tree.tokens[at].dep == "conj" and not tree.kids(at, "nsubj", "aux"):
        at = tree.tokens[at].head
    token, helped = tree.tokens[at], {tree.tokens[i].low for i in tree.kids(at, "aux", "auxpass")}
    if token.tag != "VB" or token.dep in ("ROOT", "xcomp"):
        return token.dep == "xcomp" and helped == {"to"}
    let = not helped and token.dep == "ccomp" and tree.tokens[token.head].lemma in _LETTING
    return let or (helped == {"to"} and not tree.kids(at, "nsubj"))


GONE_TO = frozenset("live work stay study teach".split())
""" "went to live there" tells of the living."""


def _is_gone_to(tree: Tree, at: int) -> bool:
    """ "went to live with her son", "came to work at the bakery": it has begun."""
    token, head = tree.tokens[at], tree.tokens[tree.tokens[at].head]
    gone = head.lemma in ("go", "come", "move", "return") and head.tag in ("VBD", "VBN")
    return token.lemma in GONE_TO and gone and token.dep in ("advcl", "xcomp")


_GOSSIP = frozenset("gossip rumour rumor grapevine people someone somebody everyone everybody folks".split())
_MEANWHILE = frozenset("while when whilst before after without by".split())
_LETTING = frozenset("help make let see watch hear have".split())


def stands_alone(tree: Tree, at: int) -> bool:
    """ "I'm left-handed, so suggest other scissors": two sentences, of which the parser hung one on the other."""
    token = tree.tokens[at]
    between = tree.tokens[at : token.head]
    return token.dep == "ccomp" and at < token.head and any(t.text in (",", ";", ":") for t in between)


_HEARSAY = frozenset(
    "rumour rumor idea suggestion theory myth possibility chance thought notion fear dream".split()
)
""" "the rumour that she was replaced": nothing is so by that."""


def _is_mine(tree: Tree, at: int) -> bool:
    """Whether the one who speaks is the one who thinks so."""
    who = tree.kid(at, "nsubj", "nsubjpass")
    return who is None or tree.tokens[who].low in ("i", "we", "you")


def _has_condition(tree: Tree, at: int) -> bool:
    """ "… if the job works out"."""
    return any(
        tree.tokens[i].low in _CONDITION
        for c in tree.kids(at, "advcl")
        for i in tree.kids(c, "mark", "advmod")
    )
