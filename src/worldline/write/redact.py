"""Secrets: known shapes are taken out before anything is stored; the receipt says what they were.

It knows shapes, not meanings: what looks like a key is replaced by its name in brackets. The shapes
are data (`lexicon/secrets.toml`), and each is looked for in linear time. Every verb that writes
passes one door, `redacting`, which looks through all the text that it was given.

>>> redact("use sk-abcdefghijklmnopqrstuvwxyz123456")[0]
'use [redacted: api key]'
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import cache, wraps
from hashlib import sha256
from importlib.resources import files
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from worldline.errors import InvalidInput
from worldline.model import Fact, Receipt

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
REFERENCES = frozenset(
    "self ref type src dst entity mentions receipt proposal status dry_run valid_from valid_to since until "
    "dated said_at when".split()
)
"""What names a memory, a type or a moment: nothing of it is stored as it stands."""
DEEPEST = 100
_LONG = 200
"""A word as long as this may be anything."""
_PLAIN = frozenset({type(None), bool, int, float, datetime, date})
_NOT_KEPT = frozenset({"type", "valid_from", "valid_to", "dated", "said_at"})
"""Fields whose text is a type or a moment, and is checked as such."""
_OBJECT = ("object", "literal")
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class SecretRule(NamedTuple):
    """A shape: its name, what a text with it holds in lower case, the pattern, and a further check."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    word: int
    """The longest word of a text with it has so many characters."""


@cache
def rules() -> tuple[SecretRule, ...]:
    """Every shape, in the order in which they are looked for."""
    written = tomllib.loads(files("worldline.lexicon").joinpath("secrets.toml").read_text("utf-8"))
    return tuple(
        SecretRule(
            item["kind"],
            tuple(item["hints"]),
            re.compile(item["pattern"], re.ASCII),
            _CHECKS[item.get("check", "any")],
            item.get("word", 0),
        )
        for item in written["rule"]
    )


@cache
def _rules_within(longest: int) -> tuple[SecretRule, ...]:
    """The shapes that fit into a word of so many characters, or may have spaces."""
    return tuple(rule for rule in rules() if rule.word <= longest)


def likely(texts: Sequence[str]) -> tuple[SecretRule, ...]:
    """The shapes that any of these texts may have: most hints are in none of hundreds."""
    low = "\n".join(texts).lower()
    within = _rules_within(min(max(map(len, low.split()), default=0), _LONG))
    has = frozenset(low).issuperset  # most hints have a sign that plain texts lack
    return tuple(rule for rule in within if any(has(hint) and hint in low for hint in rule.hints))


def redact(text: str, among: tuple[SecretRule, ...] | None = None) -> tuple[str, tuple[str, ...]]:
    """The text without secrets (of these shapes), and the names of what was taken out."""
    found: list[str] = []
    low = text.lower()
    if among is None:
        among = _rules_within(min(max(map(len, text.split()), default=0), _LONG))
    for rule in among:
        for hint in rule.hints:  # a loop: this is asked of every text, and `any` would cost most of it
            if hint in low:
                text = rule.pattern.sub(lambda match, rule=rule: _instead(match, rule, found), text)  # type: ignore[misc]
                break
    return text, tuple(found)


def _instead(match: re.Match[str], rule: SecretRule, found: list[str]) -> str:
    part: int | str = "secret" if "secret" in match.re.groupindex else 0
    secret, whole = match[part], match[0]
    if not rule.check(secret):
        return whole
    found.append(rule.kind)
    start, end = match.start(part) - match.start(), match.end(part) - match.start()
    return f"{whole[:start]}[redacted: {rule.kind}]{whole[end:]}"


# Checks --------------------------------------------------------------------------------------------


def _luhn(number: str) -> bool:
    """The check digit of a card; a number of one digit alone is an example, not a card."""
    digits = [int(c) for c in number if c.isdigit()]
    doubled = [d if place % 2 == 0 else d * 2 - 9 * (d > 4) for place, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0 and len(set(digits)) > 1


def _iban(number: str) -> bool:
    """The check digits of an account (ISO 7064, mod 97)."""
    plain = number.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _base58(key: str) -> bool:
    """The check sum of a wallet's key."""
    value = 0
    for c in key:
        value = value * 58 + _BASE58.index(c)
    raw = value.to_bytes(39, "big").lstrip(b"\0")
    return sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def _mixed(value: str) -> bool:
    """Letters and digits together: a word is not a key."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _social(number: str) -> bool:
    area, group, serial = number.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


_CHECKS: dict[str, Callable[[str], bool]] = {
    "any": lambda secret: True,
    "luhn": _luhn,
    "iban": _iban,
    "base58": _base58,
    "mixed": _mixed,
    "social": _social,
}

# The door ------------------------------------------------------------------------------------------


def screened(value: T) -> tuple[T, tuple[str, ...]]:
    """A value without secrets in any text of it, and the names of what was taken out."""
    found: list[str] = []
    return _screened(value, found), tuple(found)


def _screened(value: Any, found: list[str], depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise InvalidInput(f"it is nested more than {DEEPEST} deep")
    if isinstance(value, str):
        text, names = redact(value)
        found += names
        return text
    if isinstance(value, dict):
        named = {key: value.get("relation", key) if key in _OBJECT else key for key in value}
        return {
            _screened(key, found): _beside(named[key], item, found, depth + 1) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = [_screened(item, found, depth + 1) for item in value]
        return type(value)(items) if type(value) in (list, tuple) else value
    if isinstance(value, Struct):
        return _screened_fields(value, found)
    return value


def _screened_fields(value: Struct, found: list[str]) -> Struct:
    own = getattr(value, "predicate", "") if isinstance(value, Fact) else ""
    changed = {}
    for name in value.__struct_fields__:
        item = getattr(value, name)
        if type(item) not in _PLAIN and name not in _NOT_KEPT:
            plain = _beside(own if name in _OBJECT else "", item, found)
            if plain is not item and plain != item:
                changed[name] = plain
    return replace(value, **changed) if changed else value


def _beside(key: Any, value: Any, found: list[str], depth: int = 0) -> Any:
    """What stands in an object under a telling name is read together with that name."""
    if not isinstance(key, str) or not key or not isinstance(value, str):
        return _screened(value, found, depth)
    together, names = redact(f"{key}: {value}")
    if names and together.startswith(f"{key}: "):
        found += names
        return together[len(key) + 2 :]
    return _screened(value, found)


def redacting(verb: Callable[Concatenate[S, P], Receipt]) -> Callable[Concatenate[S, P], Receipt]:
    """The door: a verb that writes gets what it was given without secrets, and its receipt says so."""
    signature = inspect.signature(verb)
    texts = frozenset(signature.parameters) - REFERENCES

    @wraps(verb)
    def behind(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Receipt:
        if not self._h.config.redact:  # type: ignore[attr-defined]
            return verb(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs)
        found: list[str] = []
        for name in texts & given.arguments.keys():
            given.arguments[name] = _screened(given.arguments[name], found)
        receipt = verb(*given.args, **given.kwargs)
        return replace(receipt, redacted=(*found, *receipt.redacted)) if found else receipt

    return behind


def require_plain(name: str, what: str) -> None:
    """Refuses a key as the name of a scope: two keys must not become one scope."""
    for kind in redact(name)[1]:
        if kind.endswith(("key", "token", "secret", "login")):
            raise InvalidInput(f"the {what} looks like a secret ({kind}); names are stored, so use another")
