"""What no rule takes is kept as it is said: who, the verb, and the rest of the clause in its own words.

Decides which clauses are worth that: they state of somebody or something that can be told what is so or will be, with
a number, a name, a time or the one place that is meant. What anybody feels, thinks, might do or does just now is not.
What a rule has taken may say something besides; that is kept in the same way.

    "Our team talks on Slack." by Ifeoma → Ifeoma's team | talks on | Slack
    "Passwords expire after 90 days." → Passwords | expire after | 90 days
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import Claim, predicate_key, stem
from worldline.reading.clauses import FEELING, Clause
from worldline.reading.families import plural
from worldline.reading.matching import PLACED, PLACES
from worldline.reading.names_and_days import Occasions
from worldline.reading.parser import Noun, Token, Tree
from worldline.reading.whom import IT, ME, NUMBER, THEY, YOU

MOST, MOST_OF_SUBJECT, MOST_BESIDES = 10, 6, 6
"""Words of what is said, of what it is said of, and of what is said besides."""
_MAIN = frozenset({"ROOT", "conj", "parataxis"})
_LIVE = frozenset({"present", "future"})
_OF_NEED = frozenset("need want see talk".split())
"""Idle verbs that tell something where a number or a name stands behind them."""
_ADVERBS = frozenset(
    "still just also already usually always really now only currently actually normally mostly generally typically "
    "finally probably definitely officially technically basically though too either again soon".split()
)
_TIMES = re.compile(
    r"\b(?:every|each|once|twice|daily|weekly|monthly|yearly|hourly|(?:morning|afternoon|evening|night|weekend|weekday)s|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|noon|midnight|o'clock|(?:a|per) (?:day|week|month|year))\b",
    re.I,
)
_COUNTED = re.compile(rf"(?!one\b)(?:{NUMBER.pattern})", re.I)
_POINTING = frozenset("the my our your".split())
_ARTICLES = frozenset({"the", "a", "an"})
_EMPTY = frozenset(
    "it this that them him her you what which who how each other these those one things something".split()
)
_NOT_OPENING = frozenset("ADP SCONJ CCONJ ADV INTJ PRON VERB AUX PUNCT NUM X".split())
_BESIDES = ("prep", "npadvmod", "dobj", "dative", "advmod")
_LINKS = frozenset({"ADP", "DET", "PUNCT", "PART"})
_LOOSE = frozenset(
    "for by with from under because like than about due thanks despite during according except instead without since "
    "after before of as".split()
)
_WORD = re.compile(r"[\w.:/-]+")


class Behind(Struct, frozen=True):
    """Words behind a verb: the preposition in front of them, the rest, and whether that is a name."""

    prep: str
    value: str
    named: bool


class Worded(Occasions):
    """One sentence being read: clauses in their own words."""

    def _as_said(self, clause: Clause, subjects: Sequence[tuple[Noun, str]]) -> Claim | None:
        """What no rule takes, in its own words: "Spare keys hang behind the fuse box"."""
        noun, name = subjects[0] if subjects else (None, opening(self.tree, clause, self.days))
        mine = noun is not None and noun.text.lower() in ME
        said = said_whole(self.tree, clause, self.days, mine=mine)
        begin, end = self._chars(clause, None)
        told = any(begin <= claim.chars[0] < end for claim in self.found)
        if said is None or told or (noun is not None and noun.pronoun and not mine):
            return None
        if noun is not None and not name and noun.owner.lower() not in YOU | THEY | IT:
            idle = self._is_idle(noun) and not (noun.owner or " " in noun.text)
            name = "" if idle else f"{noun.owner}'s {noun.text}".removeprefix("'s ")
        if not name or name.lower() in YOU | THEY | IT or name.lower() == said.value.lower():
            return None
        several = noun is not None and self.tree.tokens[noun.at].tag == "NNS" and not noun.name
        return self._worded(clause, name, plural(clause.reads) if several else clause.reads, said, ())

    def _as_well(self, clause: Clause, made: Sequence[Claim]) -> Claim | None:
        """What else is so, besides what was made of a clause: "rings her dad every Sunday at six"."""
        told = " ".join(f"{c.subject} {c.predicate} {c.object}" for c in made)
        first = next(
            (c for c in made if not c.family and "{" not in c.predicate and c.effect != "ends"), None
        )
        other = (
            clause.lemma == "be" or clause.tense != "present" or clause.plan or clause.over or clause.negated
        )
        said = None if first is None or other else said_besides(self.tree, clause, self.days, told)
        if said is None or first is None:
            return None
        what = first.matter or first.object.split()[-1]
        return self._worded(clause, first.subject, f"{first.predicate} {first.object}", said, (what,))

    def _there_is(self, clause: Clause) -> list[Claim]:
        """ "There's a spare key under the pot": where something is."""
        if (
            self.tree.kid(clause.at, "expl") is None
            or clause.verb != "be"
            or clause.negated
            or clause.tense == "past"
        ):
            return []
        found = []
        for thing in (n for p in clause.parts if p.kind == "attribute" for n in p.nouns[:1]):
            short = self.tree.short(thing)
            places = [i for at in (thing.at, clause.at) for i in self.tree.kids(at, "prep")]
            where = next((i for i in places if self.tree.tokens[i].low in PLACES), None)
            inner = self.tree.kid(where, "pobj") if where is not None else None
            if (
                where is None
                or inner is None
                or inner in self.days
                or self._is_opinion(thing)
                or thing.pos == "NUM"
            ):
                continue
            if self._is_idle(thing) and not NUMBER.match(short.text):
                continue
            value, kind = self._value(self.tree.noun(inner, self.days), None, short.text)
            several = "are" if self.tree.tokens[thing.at].tag == "NNS" else "is"
            prep = self.tree.tokens[where].low
            claim = self._claim(short.text, f"{several} {prep}", PLACED, value, kind, clause)
            found.append(replace(claim, holds="one", matter=short.lemma))
        return found

    def _worded(self, clause: Clause, name: str, reads: str, said: Behind, more: tuple[str, ...]) -> Claim:
        """An open claim of words as they stand, in the slot of its verb."""
        key = predicate_key([*clause.verb.split(), *more], said.prep)
        kind = "entity" if said.named else "text"
        claim = self._claim(name, f"{reads} {said.prep}".strip(), key, said.value, kind, clause)
        return replace(claim, matter=stem(said.value.split()[-1]))


def said_whole(tree: Tree, clause: Clause, days: Collection[int], *, mine: bool) -> Behind | None:
    """What stands behind the verb of a clause, if that is worth keeping; `mine` where who speaks is its subject."""
    if not _states(tree, clause, mine=mine):
        return None
    behind = _behind(tree, clause, days)
    if not 0 < len(behind) <= MOST or tree.kid(clause.at, "expl") is not None:
        return None
    said = _parted(tree, behind)
    placed = not mine and clause.lemma not in _OF_NEED and said.prep in PLACES
    worth = _is_worth(tree, behind) or (placed and _is_pointed_at(tree, behind))
    return said if worth and said.value else None


def _states(tree: Tree, clause: Clause, *, mine: bool) -> bool:
    """Whether a clause states what is so or will be; of himself, who speaks means much and does much just now."""
    helping = [tree.tokens[i] for i in tree.kids(clause.at, "aux", "auxpass")]
    tag, idle = tree.tokens[clause.at].tag, clause.lemma in words("idle_verbs.txt")
    if clause.dep not in _MAIN or clause.tense not in _LIVE or clause.plan or clause.over or not clause.reads:
        return False
    if clause.lemma in FEELING or clause.word in words("mood_adjectives.txt"):
        return False
    if mine and (clause.tense == "future" or any(t.tag == "MD" for t in helping)):
        return False
    going = tag == "VBG" and (idle or mine)
    bare = tag in ("VBG", "VBN") and not helping
    return not (going or bare or (idle and clause.lemma not in _OF_NEED))


def opening(tree: Tree, clause: Clause, days: Collection[int]) -> str:
    """What stands before the verb of a sentence, where the parser has found no subject there."""
    helping = [i for i in tree.kids(clause.at, "aux", "auxpass", "neg") if i < clause.at]
    front = tree.tokens[: min([clause.at, *helping])]
    finite = tree.tokens[clause.at].tag in ("VBZ", "VBP") or bool(helping)
    if not 0 < len(front) <= MOST_OF_SUBJECT or not finite or clause.dep != "ROOT":
        return ""
    odd = any(t.text == "," or t.pos in ("SCONJ", "INTJ") for t in front) or 0 in days
    if odd or (front[0].pos in _NOT_OPENING and front[0].tag != "VBG"):
        return ""
    return tree.said([i for i, t in enumerate(front) if i or t.low not in _ARTICLES])


def _behind(tree: Tree, clause: Clause, days: Collection[int]) -> list[int]:
    """The clause's own words behind its verb, up to a comma or another clause, without the day where more is said."""
    end = max([clause.at, *(i for i in clause.own if clause.word and tree.tokens[i].low == clause.word)])
    while end + 1 < len(tree.tokens) and tree.tokens[end + 1].dep in ("prt", "neg"):
        end += 1
    found: list[int] = []
    for i in range(end + 1, len(tree.tokens)):
        token = tree.tokens[i]
        if i not in clause.own or (token.pos == "PUNCT" and token.text not in "'-/\"%"):
            break
        found.append(i)
    while found and tree.tokens[found[0]].low in _ADVERBS:
        found = found[1:]
    undated = _without_end(tree, [i for i in found if i not in days])
    return undated if any(tree.tokens[i].pos not in _LINKS for i in undated) else _without_end(tree, found)


def _without_end(tree: Tree, places: list[int]) -> list[int]:
    """Without what leads nowhere at their end."""

    def leads_nowhere(token: Token) -> bool:
        return token.low in _ADVERBS or token.pos in ("ADP", "CCONJ", "DET")

    while places and leads_nowhere(tree.tokens[places[-1]]):
        places = places[:-1]
    return places


def _parted(tree: Tree, places: Sequence[int]) -> Behind:
    """The preposition in front of some words, and the words without it and without an article."""
    first = tree.tokens[places[0]]
    prep = first.low if first.pos == "ADP" and len(places) > 1 else ""
    rest = places[1:] if prep else places
    while len(rest) > 1 and tree.tokens[rest[0]].low in _ARTICLES:
        rest = rest[1:]
    return Behind(prep, tree.said(rest), tree.tokens[rest[-1]].pos == "PROPN" and len(rest) <= 4)


def _is_worth(tree: Tree, places: Sequence[int]) -> bool:
    """Whether a number, a name or a time is among some words, and nothing is done there."""
    tokens = [tree.tokens[i] for i in places]
    if any(t.pos in ("VERB", "AUX", "SCONJ") or t.low in _EMPTY for t in tokens):
        return False
    told = any(t.pos == "PROPN" or _COUNTED.match(t.low) for t in tokens)
    return told or _TIMES.search(tree.said(places)) is not None


def _is_pointed_at(tree: Tree, places: Sequence[int]) -> bool:
    """ "behind the fuse box": the one place that is meant."""
    tokens = [tree.tokens[i] for i in places]
    heads = [tree.tokens[t.head] for t in tokens if t.low in _POINTING]
    done = any(t.pos in ("VERB", "AUX", "SCONJ") or t.low in _EMPTY for t in tokens)
    return not done and any(t.pos == "NOUN" and t.lemma not in words("idle_nouns.txt") for t in heads)


def said_besides(tree: Tree, clause: Clause, days: Collection[int], told: str) -> Behind | None:
    """The first number, place or time that a clause says besides what was `told` of it."""
    heard = set(_WORD.findall(told.lower()))
    nouns = [p.nouns[0].at for p in clause.parts if p.nouns and not p.prep and not p.dated]
    for at in sorted({i for end in (*nouns, clause.at) for i in tree.kids(end, *_BESIDES) if i > clause.at}):
        places = [i for i in tree.under(at) if i in clause.own]
        if not _stands_apart(tree, clause, places, days) or not _is_worth(tree, places):
            continue
        telling = [tree.tokens[i].low for i in places if tree.tokens[i].pos not in _LINKS]
        said = _parted(tree, places)
        timed = said.prep or _TIMES.search(said.value)
        much = tree.tokens[at].dep == "dobj" and NUMBER.match(said.value)  # "owes Bo 200 pounds"
        fits = said.prep in PLACES or (not said.named and said.prep not in _LOOSE and (timed or much))
        if said.value and fits and heard.isdisjoint(telling):
            return said
    return None


def _stands_apart(tree: Tree, clause: Clause, places: Sequence[int], days: Collection[int]) -> bool:
    """Whether a few words stand together in a clause, with no comma before them and no day among them."""
    if not 0 < len(places) <= MOST_BESIDES or places[-1] - places[0] >= len(places):
        return False
    between = tree.tokens[clause.at : places[0]]
    return set(places).isdisjoint(days) and not any(t.text in ",;:" for t in between)
