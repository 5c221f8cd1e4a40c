"""A parsed sentence as something to ask: who hangs on whom, and which words make up a noun phrase.

It knows grammar and no meaning: nouns with their owners, names in apposition, members of a list, and
the words that belong to a phrase. Pronouns come out as they stand; who they are is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import takewhile

from msgspec import Struct

from worldline.lexicon import words
from worldline.reading.parser import Token
from worldline.reading.voices import is_given_name

NOUNS = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM"})
_LEFT_OUT = frozenset(
    {"det", "predet", "punct", "cc", "conj", "relcl", "appos", "case", "preconj", "neg", "acl", "advcl"}
)
_BRANCHES = frozenset({"conj", "cc", "relcl", "appos", "acl", "advcl"})
_ENDS = re.compile(r"[^\w%°$€£#+)]+$|\s+(?:effective|with effect|as well|too)$")
_ROUGHLY = frozenset("only just about around roughly exactly already almost nearly".split())
_QUANTITIES = frozenset("bit little lot lots plenty bunch ton tons loads".split())
_LONGEST = 12
"""Words of a noun phrase; a longer one is a misreading."""


class Noun(Struct, frozen=True):
    """A noun phrase: its words without article and owner, the owner, and how it was introduced."""

    text: str
    lemma: str
    at: int
    chars: tuple[int, int]
    pos: str = "NOUN"
    owner: str = ""
    """The owner as it stands: "my", "Rosa", "my boss"."""
    name: str = ""
    """A name in apposition: "my sister Rosa"."""
    article: str = ""
    of: Noun | None = None
    """What stands behind "of" or "for", where the noun is one of something."""
    flipped: bool = False
    """Said the other way round than its clause: "tea, not coffee"; "isn't a nurse but a vet"."""

    @property
    def proper(self) -> bool:
        return self.pos == "PROPN"

    @property
    def pronoun(self) -> bool:
        return self.pos == "PRON"

    @property
    def indefinite(self) -> bool:
        return self.article in ("a", "an", "some", "another", "two", "three")


class Tree:
    """One sentence."""

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        self.tokens, self.text = tokens, text

    @cached_property
    def _children(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.tokens]
        for place, token in enumerate(self.tokens):
            if token.head != place and 0 <= token.head < len(found):
                found[token.head].append(place)
        return found

    @property
    def root(self) -> int:
        return next((i for i, t in enumerate(self.tokens) if t.head == i), 0)

    def kids(self, at: int, *deps: str) -> list[int]:
        """What hangs on a word, perhaps only in certain ways."""
        return [i for i in self._children[at] if not deps or self.tokens[i].dep in deps]

    def kid(self, at: int, *deps: str) -> int | None:
        """The first of them."""
        return next(iter(self.kids(at, *deps)), None)

    def under(self, at: int, but: Collection[str] = ()) -> list[int]:
        """A word and everything below it, in order, without branches of certain kinds."""
        found, open_ = [], [at]
        while open_:
            here = open_.pop()
            found.append(here)
            open_ += [i for i in self._children[here] if self.tokens[i].dep not in but]
        return sorted(found)

    def above(self, at: int) -> Iterator[int]:
        """The words that a word hangs on, nearest first."""
        while self.tokens[at].head != at:
            at = self.tokens[at].head
            yield at

    def members(self, at: int) -> list[int]:
        """A noun and those joined to it by "and" or commas."""
        found = [at]
        if any(self.tokens[i].text == "&" for i in self.kids(at, "cc")):
            return found  # "Pellworth & Sons" is one name
        for i in self.kids(at, "conj"):
            if self.tokens[i].pos in NOUNS | {"ADJ"} or self.tokens[at].pos == self.tokens[i].pos:
                found += self.members(i)
        return found

    def measured(self, at: int) -> int:
        """ "a bit of Slovak", "lots of friends": what there is so much of."""
        of = next((i for i in self.kids(at, "prep") if self.tokens[i].low == "of"), None)
        inner = self.kid(of, "pobj") if of is not None and self.tokens[at].low in _QUANTITIES else None
        return at if inner is None else inner

    def names(self, at: int) -> list[str]:
        """The names of several in apposition: "two horses, Bandit and Rosie"."""
        first = self.kid(at, "appos")
        if first is None or self.tokens[at].tag != "NNS":
            return []
        named = [i for i in self.members(first) if self.tokens[i].pos == "PROPN"]
        return [self.said(self._phrase(i, (), but=("prep",))) for i in named] if len(named) > 1 else []

    def is_denied(self, at: int) -> bool:
        """ "no help", "not Themba", "neither Arabic nor German"."""
        marks = self.kids(at, "neg", "preconj", "det", "cc", "advmod")
        return any(self.tokens[i].low in ("no", "not", "neither") and i < at for i in marks)

    def flips(self, at: int, negated: bool) -> dict[int, bool]:
        """The members of a list, and whether each is said the other way round than the first one's clause."""
        found, before = dict[int, bool](), negated
        for i in self.members(at):
            joint = [k for k in self.kids(self.tokens[i].head, "cc") if k < i] if i != at else []
            low = self.tokens[max(joint)].low if joint else ""
            only = i != at and any(self.tokens[k].low in ("only", "just") for k in self.kids(i, "advmod"))
            if self.is_denied(i) or low == "nor":
                before = True
            elif low == "but" or only:
                before = False
            found[i] = before != negated
        return found

    def said(self, places: Sequence[int]) -> str:
        """These words as they are written; what lies between them is left out."""
        parts: list[str] = []
        for n, i in enumerate(places):
            token = self.tokens[i]
            glued = n > 0 and self.tokens[places[n - 1]].end == token.begin
            parts.append(token.text if glued or n == 0 else f" {token.text}")
        return _ENDS.sub("", "".join(parts)).strip(" ,;:-–—'\"“”()*")

    # Noun phrases ------------------------------------------------------------------------------------

    def noun(self, at: int, without: Collection[int] = (), deep: bool = True) -> Noun:
        """The phrase around a noun; `without` are words that belong elsewhere, dates for example."""
        token = self.tokens[at]
        owner = self._owner(at)
        kept = self._phrase(at, without)
        appos, of = self._called(at), None
        for i in self.kids(at, "prep") if deep else ():
            inner = self.kid(i, "pobj")
            if self.tokens[i].low in ("of", "for", "at", "on") and inner is not None and inner not in without:
                of = of or self.noun(inner, without, deep=False)
        article = next((self.tokens[i].low for i in self.kids(at, "det", "nummod", "poss")), "")
        places = kept or [at]
        if all(self.tokens[i].tag == "CD" for i in places):  # "0471 55 20 18": one number
            rest = range(places[-1] + 1, len(self.tokens))
            places += takewhile(lambda i: self.tokens[i].text.isdigit() and i not in without, rest)
        return Noun(
            self.said(places), token.lemma.lower() if token.pos != "PROPN" else token.text, at,
            (self.tokens[places[0]].begin, self.tokens[places[-1]].end),
            self._kind(at, places), owner, appos, article, of,
        )  # fmt: skip

    def short(self, noun: Noun) -> Noun:
        """The same without what stands behind "of", "for" and the like."""
        kept = self._phrase(noun.at, (), but=("prep", "nmod"))
        kept = kept or [noun.at]
        return Noun(
            self.said(kept), noun.lemma, noun.at, noun.chars, noun.pos, noun.owner, noun.name, noun.article, noun.of
        )  # fmt: skip

    def _kind(self, at: int, places: Sequence[int]) -> str:
        """A name, where any of its main words is one ("Eden clinic", "Ana")."""
        pos = self.tokens[at].pos
        if pos in ("PRON", "NUM"):
            return pos
        if len(places) == 1 and self.tokens[at].text[:1].isupper() and is_given_name(self.tokens[at].text):
            return "PROPN"  # "Ines" at the head of a sentence looks like a plural
        first = self.tokens[places[0]]
        named = any(
            self.tokens[i].text[:1].isupper() and (i > 0 or self.tokens[i].pos == "PROPN")
            for i in places if i == at or (self.tokens[i].dep in ("compound", "amod", "nmod") and self._is_near(i, at))
        )  # fmt: skip
        return "PROPN" if named or (pos == "PROPN" and first.text[:1].isupper()) else pos

    def _is_near(self, i: int, at: int) -> bool:
        """Whether a word belongs to the noun itself, not to what stands behind its preposition."""
        while self.tokens[i].dep in ("compound", "amod", "nmod"):
            i = self.tokens[i].head
        return i == at

    def _phrase(self, at: int, without: Collection[int], but: Collection[str] = ()) -> list[int]:
        """The places of the words of a noun phrase."""
        found: list[int] = []
        out = set(without)
        joined = any(self.tokens[i].text == "&" for i in self.kids(at, "cc"))
        branches = _BRANCHES - {"conj", "cc"} if joined else _BRANCHES
        out |= set(self.kids(at, "prep")[1:])
        apart = ("except", "besides", "with") if self.tokens[at].pos == "PROPN" else ("except", "besides")
        out |= {i for i in self.kids(at, "prep") if self.tokens[i].low in apart}
        for i in self.under(at, branches | set(but)):
            if i in out or self._is_below(i, out, at):
                continue
            inner = i != at and not self._is_direct(i, at)
            if i != at and not inner and self._is_left_out(i):
                continue
            found.append(i)
        found = self._without_owner(found, at)
        while found and (
            self.tokens[found[-1]].dep == "prep"
            or self.tokens[found[-1]].pos in ("PUNCT", "ADP", "CCONJ")
            or (self.tokens[found[-1]].pos == "ADV" and self.tokens[found[-1]].head not in found)
        ):
            found.pop()
        while found and self.tokens[found[0]].pos in ("PUNCT", "ADP", "CCONJ", "DET") and found[0] != at:
            found.pop(0)
        while (
            found
            and found[0] != at
            and (self.tokens[found[0]].tag == "PRP$" or self.tokens[found[0]].low in _ROUGHLY)
        ):
            found.pop(0)
        return found if len(found) <= _LONGEST else [at]

    def _is_left_out(self, i: int) -> bool:
        token = self.tokens[i]
        if token.dep == "punct":
            return token.text not in ("-", "/", "&")
        if token.dep in ("cc", "conj"):
            return not any(self.tokens[k].text == "&" for k in self.kids(token.head, "cc"))
        if token.dep == "poss":
            return self._is_mine(i)
        if token.dep == "case" and token.tag == "POS":
            return self.tokens[token.head].dep not in (
                "dobj",
                "pobj",
                "attr",
            )  # "a master's", "at St. Anne's"
        return token.dep in _LEFT_OUT or (token.dep == "advmod" and token.pos == "ADV")

    def _is_direct(self, i: int, at: int) -> bool:
        """Whether a word hangs on the noun itself or on a part of its name, not inside a further phrase."""
        return self.tokens[i].head == at

    def _is_below(self, i: int, out: Collection[int], at: int) -> bool:
        if i == at:
            return False
        for above in self.above(i):
            if above in out:
                return True
            if above == at:
                return False
        return False

    def _is_mine(self, i: int) -> bool:
        return self.tokens[i].tag == "PRP$" or self.tokens[i].pos == "PRON"

    def _without_owner(self, found: list[int], at: int) -> list[int]:
        poss = self.kid(at, "poss")
        if poss is None or self._is_mine(poss):
            return found
        owner = set(self.under(poss))
        return [i for i in found if i not in owner]

    def _owner(self, at: int) -> str:
        poss = self.kid(at, "poss")
        if poss is None:
            for i in self.kids(
                at, "compound", "amod", "nmod"
            ):  # "My colleague Birte": the owner may hang there
                poss = poss or self.kid(i, "poss")
        if poss is None:
            return ""
        if self._is_mine(poss):
            return self.tokens[poss].low
        if name := self.role_in_front(poss)[1]:
            return name  # "my neighbour Piet's trailer"
        inner = self.kid(poss, "poss")
        said = self.said([i for i in self.under(poss) if self.tokens[i].dep not in ("case", "det")])
        if inner is not None and self._is_mine(inner):
            return said
        return said

    def _called(self, at: int) -> str:
        """A name in apposition, with its parts: "my boss Rosa", "my boss, a woman called Rosa"."""
        for i in self.kids(at, "appos"):
            if self.tokens[i].pos == "PROPN" or self.tokens[i].text[:1].isupper():
                return self.said(self._phrase(i, (), but=("prep",)))
            if name := self.called(i):
                return name
        return ""

    def called(self, at: int) -> str:
        """The name of "a guy called Milo"."""
        for i in self.kids(at, "acl"):
            if (
                self.tokens[i].lemma in ("call", "name")
                and (inner := self.kid(i, "oprd", "dobj", "attr")) is not None
            ):
                return self.said(self._phrase(inner, (), but=("prep",)))
        return ""

    def is_title(self, at: int) -> bool:
        """ "Professor Aldana", "Uncle Sol": part of the name, unless somebody's uncle is named."""
        token = self.tokens[at]
        if not token.text[:1].isupper() or token.low not in words("titles.txt"):
            return False
        named = at + 1 < len(self.tokens) and self.tokens[at + 1].text[:1].isupper()
        return named and (at == 0 or self.tokens[at - 1].tag not in ("PRP$", "POS"))

    def role_in_front(self, at: int) -> tuple[str, str]:
        """ "neighbour Ewan", "my colleague Birte": the role in front of a name, and the name alone."""
        kinds = [
            i
            for i in self.kids(at, "compound", "nmod", "amod")
            if self.tokens[i].low in words("person_roles.txt")
            and self.tokens[i].tag.startswith("NN")
            and not self.is_title(i)
        ]
        if not kinds or (self.tokens[at].pos != "PROPN" and not self.tokens[at].text[:1].isupper()):
            return "", ""
        role = kinds[0]
        before = [
            i for i in self.kids(at, "amod", "compound") if i < role and self.tokens[i].text[0].islower()
        ]
        rest = [i for i in self._phrase(at, (), but=("prep",)) if i > role]
        said = self.said([*[i for i in before if self.tokens[i].low not in IDLE_MODIFIERS], role])
        return said, self.said(rest or [at])


IDLE_MODIFIERS = frozenset("new old dear lovely little poor good beloved current own former".split())
