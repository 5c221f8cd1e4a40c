"""Every setting, in one frozen value.

Settings come from the defaults below, then a TOML file, then `WORLDLINE_*` variables, then
arguments. An unknown setting is an error: a typo must not silently change nothing.

>>> Config().prefix_length
8
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from worldline.errors import InvalidInput, UnknownType
from worldline.text import is_language

_NOT_SETTINGS = frozenset(
    f"WORLDLINE_{name}"
    for name in ("DB", "CONFIG", "TENANT", "TOKEN", "SERVER", "EMBEDDER_KEY", "MODEL_KEY", "COMPLETE")
)


CLOSER = "ms-marco-minilm-l-12"
"""The packaged cross-encoder, as the setting `reranker` names it."""


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings with their defaults."""

    language: str = "english"
    """Stemmer for words: a Snowball language name."""
    embedder: str = "auto"
    """Vectors: auto (the packaged model if its extra is installed), none, a model's name, onnx:FOLDER,
    fastembed:MODEL, or URL#MODEL of an OpenAI-compatible endpoint."""
    reranker: str = "auto"
    """Reads the best candidates again: auto (the packaged cross-encoder if its extra is installed, as one factor
    of the score), none, or one that has the last word: onnx:FOLDER of a cross-encoder, URL#MODEL of an
    OpenAI-compatible endpoint, or a cheap and a strong one with a comma between them."""
    model: str = "none"
    """Language model for `ask` and for `understand = "model"`: none, or URL#MODEL of an OpenAI-compatible
    endpoint."""
    model_tokens: int = 1200
    """Longest answer of the model about one remembered text, in tokens."""
    model_events: int = 100
    """So many texts at most does the model read in one `remember` or `resume`; the rest stays pending."""
    max_tokens: int = 2000
    """Budget of a recall, in estimated tokens."""
    durability: Literal["full", "normal"] = "full"
    """`full` survives a power cut after every write; `normal` survives a crash of the process."""
    lock_seconds: float = 30.0
    """How long a write waits for other writers before StoreBusy."""
    max_text: int = 16 * 1024 * 1024
    """Longest text of one memory, in bytes of UTF-8."""
    prefix_length: int = 8
    """Shortest prefix of a hash that fetches a memory, in hex digits."""
    understand: Literal["rules", "model", "off"] = "rules"
    """Whether facts are drawn from what is remembered: by rules, by rules and then a model, or not at all."""
    gate: Literal["normal", "strict", "off"] = "normal"
    """What is not worth understanding is only stored (normal), not even that (strict), or judged never (off)."""
    redact: bool = True
    """Take known shapes of secrets out before storing."""
    default_confidence: float = 0.6
    """A fact below its predicate's threshold is quarantined; this one serves unknown predicates."""
    thresholds: dict[str, float] = msgspec.field(
        default_factory=lambda: {"financial": 0.9, "medical": 0.9, "exploratory": 0.4}
    )
    """Confidence thresholds by predicate class."""
    sleep_min_age: float = 1.0
    """So many days after its first text a world gets a summary, when sleep passes by."""
    summariser: Literal["rules", "model"] = "rules"
    """Who writes summaries: rules choose sentences and cite them; a model writes them anew from these."""
    log_uses: bool = True
    """Note aside which memories a recall has shown, so that sleep keeps warm what is used."""
    decay_rate: float = 0.002
    """How fast salience fades, per day without use; 0 switches decay off."""
    cold_below: float = 0.24
    """Below this salience a memory is archived: it leaves default recall, and nothing else."""


def load(path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Defaults, then the file, then the environment."""
    environ = os.environ if environ is None else environ
    path = path or environ.get("WORLDLINE_CONFIG")
    values: dict[str, object] = {}
    if path is not None:
        values.update(_from_file(Path(path)))
    values.update(_from_environment(environ))
    return _converted(values, strict=False)


def checked(config: Config) -> Config:
    """Settings that were made in Python, once their values are such as a file or a variable may have."""
    if not isinstance(config, Config):
        raise InvalidInput(f"settings are a Config(…), not {config!r}")
    checked = _converted(asdict(config), strict=True)
    if not is_language(config.language):
        raise InvalidInput(f"bad setting: no words of {config.language!r} can be stemmed; language is a "
                           "Snowball name such as english, german or french")  # fmt: skip
    return checked


def _converted(values: dict[str, object], *, strict: bool) -> Config:
    try:
        return msgspec.convert(values, Config, strict=strict)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"bad setting: {error}") from None


def _from_file(path: Path) -> dict[str, object]:
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"cannot read the settings in {path}: {error}") from None
    return _known(values, str(path))


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    found = {
        name.removeprefix("WORLDLINE_").lower(): value
        for name, value in environ.items()
        if name.startswith("WORLDLINE_") and name not in _NOT_SETTINGS
    }
    return _known(dict(found), "the environment (WORLDLINE_…)")


def _known(values: dict[str, object], where: str) -> dict[str, object]:
    unknown = sorted(set(values) - set(Config.__struct_fields__))
    if unknown:
        raise UnknownType(
            f"unknown setting {unknown[0]!r} in {where}; "
            f"the settings are: {', '.join(Config.__struct_fields__)}"
        )
    return values


def default_path(environ: Mapping[str, str] | None = None) -> Path | str:
    """Where the store lies unless told otherwise: `WORLDLINE_DB`, else the XDG data folder."""
    environ = os.environ if environ is None else environ
    if chosen := environ.get("WORLDLINE_DB"):
        return place(chosen)
    base = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "worldline" / "memory.db"


def place(given: str | Path) -> Path | str:
    """A file's path, or the URL of a server as it is.

    >>> place("postgresql://host/db")
    'postgresql://host/db'
    """
    return given if isinstance(given, str) and "://" in given else Path(given).expanduser()


def without_password(where: str) -> str:
    """A path as it is, a URL as it may be shown.

    >>> without_password("postgresql://ana:secret@host/db")
    'postgresql://ana@host/db'
    """
    parts = urlsplit(where) if "://" in where else None
    if parts is None or parts.password is None:
        return where
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}@{host}"))
