"""Input at the door: what can be stored exactly, and a clear word about what cannot.

>>> clean_text("hello", "content", limit=100)
'hello'
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import orjson

from worldline.clock import FOREVER, Instant, Interval, When, interval
from worldline.errors import InvalidInput, InvalidText
from worldline.model import Event, Metadata, Scope

T = TypeVar("T", bound=msgspec.Struct)


def clean_text(value: Any, what: str, limit: int, *, empty: bool = False) -> str:
    """The text itself, once it is known that it can be stored exactly as it is."""
    if not isinstance(value, str):
        raise InvalidText(f"the {what} must be text, not {type(value).__name__}")
    if not empty and not value.strip():
        raise InvalidText(f"the {what} is empty")
    if "\x00" in value:
        raise InvalidText(
            f"the {what} has a NUL character at position {value.index(chr(0))}; "
            "remove it, or send binary data as base64"
        )
    try:
        size = len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"the {what} has half of a surrogate pair at position {error.start}; it is not valid Unicode"
        ) from None
    if size > limit:
        raise InvalidText(f"the {what} has {size:,} bytes; the limit is {limit:,} (setting max_text)")
    return value


def clean_name(value: Any, what: str = "name") -> str:
    """A name in NFC, without space around it, on one line."""
    text = " ".join(clean_text(value, what, 4096).split())
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def clean_names(values: Sequence[str]) -> dict[str, str]:
    """Each of these names as it is stored."""
    return {value: clean_name(value) for value in values}


def clean_count(value: Any, what: str) -> int:
    """A whole number, 0 or more."""
    if type(value) is not int or value < 0:
        raise InvalidInput(f"{what} is a whole number, 0 or more, not {value!r}")
    return value


def clean_metadata(value: Any) -> Metadata:
    """A JSON object with text keys."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InvalidInput("metadata must be a JSON object: a dict whose keys are text")
    try:
        encoded = orjson.dumps(value)
    except (TypeError, ValueError, orjson.JSONEncodeError) as error:
        raise InvalidInput(f"metadata must be plain JSON: {error}") from None
    if b"\\u0000" in encoded:
        raise InvalidText("metadata has a NUL character; remove it")
    decoded: Metadata = orjson.loads(encoded)
    return decoded


def clean_struct(value: Any, kind: type[T]) -> T:
    """A value of this kind whose fields have the types they should have."""
    if not isinstance(value, kind):
        raise InvalidInput(f"expected {kind.__name__}(…), not {value!r}")
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    try:
        return msgspec.convert(fields, kind, from_attributes=True)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise InvalidInput(f"bad {kind.__name__}: {error}") from None


def clean_event(event: Event, limit: int) -> Event:
    """An event whose every part can be stored, each as it will be."""
    clean_text(event.text, "text", limit)
    checked = clean_struct(event, Event)
    if checked.external_id is not None:
        clean_text(checked.external_id, "external id", 4096)
    speaker = clean_name(checked.speaker, "speaker") if checked.speaker else ""
    return msgspec.structs.replace(checked, speaker=speaker, metadata=clean_metadata(checked.metadata))


def clean_interval(start: When | None, end: When | None, now: Instant) -> Interval:
    """The valid interval of a write; it begins now unless a start was given."""
    return interval(now if start is None else start, FOREVER if end is None else end)


def clean_scope(scope: Scope) -> Scope:
    """A scope whose ids are usable text."""
    return Scope(**{kind: clean_name(value, f"{kind} id") for kind, value in scope.bound().items()})
