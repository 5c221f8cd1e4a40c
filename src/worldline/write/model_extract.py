"""The model extractor: a language model proposes claims, and only what the text bears out is kept.

It decides nothing about the store: text in, claims and reasons for rejection out. Each claim must
quote the text; its subject and object must occur there. What a model read has the lowest authority
("inferred"), so it never ends what somebody said. The prompt is a file, and its hash goes with
everything that it produced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any, Literal

import msgspec
import orjson
from blake3 import blake3
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import to_datetime
from worldline.dates import find_dates
from worldline.errors import InvalidInput
from worldline.handle import Done, Handle, Place
from worldline.model import Receipt
from worldline.plugins.language_models import LanguageModel, LanguageModelError, open_language_model
from worldline.ports import Tx
from worldline.reading.claim import Claim, Cue, predicate_key
from worldline.reading.voices import NOBODY, is_own_voice
from worldline.store import events
from worldline.store.events import Stored, stored_event
from worldline.text import fold
from worldline.write.echo import spoken
from worldline.write.reconcile import settle

LONGEST = 6_000
"""Characters of a message that a model is shown."""
MOST = 12
TRIES = 2
SUREST = 0.9
_SELF = frozenset({"i", "me", "my", "myself", "the user", "user", "the speaker", "speaker"})
_PREPOSITIONS = frozenset(
    [
        "in",
        "at",
        "on",
        "to",
        "of",
        "by",
        "with",
        "for",
        "from",
        "as",
        "into",
        "near",
        "within",
        "inside",
        "about",
        "against",
        "under",
        "over",
        "since",
    ]
)
_CHANGES: dict[str, Cue] = {"": "", "replaces": "closes", "ends": "ends"}


class ModelStated(Struct, frozen=True):
    """One fact as the model must write it."""

    subject: str
    predicate: str
    object: str = ""
    quote: str = ""
    since: str = ""
    change: Literal["", "replaces", "ends"] = ""
    confidence: float = 0.6


class ModelReply(Struct, frozen=True):
    """The model's whole answer."""

    facts: tuple[ModelStated, ...] = ()


class ChatMessage(Struct, frozen=True):
    """What the model is shown of an event."""

    text: str
    speaker: str
    said_at: datetime


class ModelReading(Struct, frozen=True):
    """What came of one message: claims, what was turned down and why, and where it came from."""

    claims: tuple[Claim, ...]
    rejected: tuple[str, ...]
    model: str
    prompt: str
    calls: int = 1


@lru_cache(maxsize=4)
def prompt(name: str = "extract") -> tuple[str, str]:
    """The text of a prompt, and the hash that is recorded on what it produced."""
    text = files("worldline.write").joinpath(f"prompts/{name}.md").read_text("utf-8")
    return text, blake3(text.encode()).hexdigest()[:16]


def schema() -> dict[str, Any]:
    """The JSON schema of an answer, for endpoints that can hold a model to it."""
    properties: dict[str, Any] = {
        name: {"type": "string"} for name in ("subject", "predicate", "object", "quote", "since")
    }
    properties["change"] = {"type": "string", "enum": list(_CHANGES)}
    properties["confidence"] = {"type": "number", "minimum": 0, "maximum": 1}
    fact = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": fact, "maxItems": MOST}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def read(model: LanguageModel, message: ChatMessage, max_tokens: int) -> ModelReading:
    """Asks the model, at most twice; an answer that is not as asked is repaired or turned down."""
    asked, digest = _messages(message), prompt()[1]
    told: list[str] = []
    for attempt in range(1, TRIES + 1):
        answer = model.complete(asked, max_tokens, schema())
        try:
            reply = parsed(answer)
        except ValueError as error:
            told.append(f"answer {attempt} was not as asked: {error}")
            asked = [
                *asked,
                {"role": "assistant", "content": answer[:4000]},
                {"role": "user", "content": f"That was not as asked ({error}). Answer with the JSON only."},
            ]
            continue
        claims, rejected = checked(reply, message)
        return ModelReading(claims, (*told, *rejected), model.name, digest, attempt)
    return ModelReading((), tuple(told), model.name, digest, TRIES)


def _messages(message: ChatMessage) -> list[dict[str, str]]:
    text = message.text[:LONGEST]
    mark = f"=== message {blake2b(text.encode('utf-8', 'replace'), digest_size=6).hexdigest()} ==="
    rules = prompt()[0]
    said = message.said_at.strftime("%A %Y-%m-%d %H:%M")
    filled = {"mark": mark, "speaker": message.speaker, "said_at": said, "most": str(MOST)}
    for name, value in filled.items():
        rules = rules.replace("{" + name + "}", value)
    return [
        {"role": "system", "content": rules},
        {"role": "user", "content": f"{mark}\n{text.replace('=== message', '=== (message)')}\n{mark}"},
    ]


# From an answer to claims --------------------------------------------------------------------------

_FENCE = re.compile(r"^\s*```(?:json)?\s*|\s*```\s*$")
_TRAILING_COMMA = re.compile(r",\s*([\]}])")


def parsed(answer: str) -> ModelReply:
    """The answer as a value; what models do to JSON is repaired, anything else is a ValueError."""
    text = _FENCE.sub("", answer.strip())
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    if not starts or end < 0:
        raise ValueError("it holds no JSON")
    body = _TRAILING_COMMA.sub(r"\1", text[min(starts) : end + 1])
    if body.startswith("["):
        body = f'{{"facts": {body}}}'
    try:
        return _decoded(body)
    except ValueError:
        if not body.startswith('{"facts"'):
            raise
        return _decoded(body + "]}")  # cut off by the limit of tokens: what is complete counts


def _decoded(body: str) -> ModelReply:
    try:
        return msgspec.json.decode(body, type=ModelReply, strict=False)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ValueError(str(error)) from None


def checked(reply: ModelReply, message: ChatMessage) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """The facts that the text bears out as claims, and a reason for each of the others."""
    claims: dict[tuple[str, str, str], Claim] = {}
    rejected: list[str] = []
    for stated in reply.facts[:MOST]:
        claim = _claim(stated, message)
        if isinstance(claim, str):
            what = f"{stated.subject} {stated.predicate} {stated.object}"
            rejected.append(f"rejected {what[:120]!r}: {claim}")
        else:
            claims.setdefault((fold(claim.subject), claim.key, fold(claim.object)), claim)
    if len(reply.facts) > MOST:
        rejected.append(f"rejected {len(reply.facts) - MOST} more: at most {MOST} facts a message")
    return tuple(claims.values()), tuple(rejected)


def _claim(stated: ModelStated, message: ChatMessage) -> Claim | str:
    """One claim, or why it is none."""
    chars = _found(stated.quote, message.text)
    subject = message.speaker if fold(stated.subject) in _SELF else " ".join(stated.subject.split())
    object_ = " ".join(stated.object.split()).strip(" .,;")
    key, phrase = _relation(stated.predicate)
    if chars is None:
        return "its quote is not in the text"
    if subject != message.speaker and not _occurs(subject, message.text):
        return "its subject is not in the text"
    if object_ and not _occurs(object_, message.text):
        return "its object is not in the text"
    if not (object_ or stated.change == "ends"):
        return "it has no object"
    if not key.strip("|") or len(subject) > 200 or len(object_) > 500:
        return "it is not a short relation"
    if not 0 <= stated.confidence <= 1:
        return "its confidence is not between 0 and 1"
    when = find_dates(stated.since, message.said_at) if stated.since else []
    named = object_[:1].isupper() and len(object_) <= 80
    return Claim(
        subject, phrase, key, object_, kind="entity" if named else "text",
        cue=_CHANGES[stated.change], valid_from=when[0].start if when else None,
        precision=when[0].precision if when else "", confidence=min(stated.confidence, SUREST),
        rank="inferred", begins=bool(when), chars=chars,
    )  # fmt: skip


def _relation(predicate: str) -> tuple[str, str]:
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", predicate.replace("_", " ").lower())[:8]
    preposition = words[-1] if len(words) > 1 and words[-1] in _PREPOSITIONS else ""
    return predicate_key(words[:-1] if preposition else words, preposition), " ".join(words)


def _found(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands, letter by letter apart from case and spacing."""
    words = quote.split()
    if not words:
        return None
    match = re.search(r"\s+".join(re.escape(word) for word in words), text, re.IGNORECASE)
    return match.span() if match else None


def _occurs(value: str, text: str) -> bool:
    """Whether every word of a value is a word of the text."""
    words = fold(value).split()
    held = set(fold(text).split())
    return bool(words) and (all(word in held for word in words) or value in text)


# The model's turn ---------------------------------------------------------------------------------
#
# The model's turn: after the words and the rules' facts are safe, and never inside a transaction.
#
# It decides which events a model reads, how many, and what becomes of its answer: settled in a
# changeset of its own, turned down with the reasons kept, or left pending for `resume` when the
# endpoint does not answer. The gate's verdict has decided before who is worth a model.


_KEPT = 20
"""So many reasons are kept with an event."""


def required(handle: Handle) -> LanguageModel:
    """The model that the settings name."""
    model = open_language_model(handle.config.model)
    if model is None:
        raise InvalidInput('understand = "model" needs a model: set model = "http://host/v1#name"')
    return model


def read_events(handle: Handle, ids: Sequence[str], left: str) -> Receipt | None:
    """Lets the model read these events, one after the other; None when none of them waits for it.

    `left` is how the waiting step is stored. The first failure of the endpoint ends the run: what is
    not read yet stays pending.
    """
    done: Receipt | None = None
    for id_ in ids[: handle.config.model_events]:
        event = handle.read(lambda view, id_=id_: stored_event(view, id_))  # type: ignore[misc]
        if left not in [_one(item) for item in _waiting(event)]:
            continue
        try:
            reading = _read(handle, event)
        except LanguageModelError as error:
            told = f"left for later, the model did not read it: {error}"
            late = Receipt("remember", id_, False, handle.now(), (told,))
            return late if done is None else replace(done, changes=(*done.changes, told))
        receipt = handle.write(
            "remember",
            lambda tx, place, e=event, r=reading: _settle(tx, place, handle, e, r, left),  # type: ignore[misc]
        )
        receipt = replace(receipt, changes=(*receipt.changes, *(reading.rejected if reading else ())))
        done = receipt if done is None else joined(done, receipt)
    return done


def _read(handle: Handle, event: Stored) -> ModelReading | None:
    """What the model makes of an event; None when nobody is to read it any more."""
    if handle.config.understand != "model" or not is_own_voice(event.speaker):
        return None
    said_at = to_datetime(event.said_at, event.utc_offset)
    message = ChatMessage(spoken(event.text), event.speaker or NOBODY, said_at)
    return read(required(handle), message, handle.config.model_tokens)


def _settle(
    tx: Tx, place: Place, handle: Handle, event: Stored, reading: ModelReading | None, left: str
) -> Done:
    changed = False
    if reading is not None:
        by = (("model", reading.model), ("prompt", reading.prompt))
        changed = settle(tx, reading.claims, event, place, handle, by)
        _keep(tx, event.key, reading)
    rest = [item for item in _waiting(stored_event(tx, tx.id_of(event.key).hex())) if _one(item) != left]
    events.leave(tx, event.key, orjson.dumps(rest).decode() if rest else None)
    return tx.id_of(event.key), changed


def _keep(tx: Tx, key: int, reading: ModelReading) -> None:
    """With the gate's signals: who read the event, with which prompt, and what was turned down."""
    kept = {
        "name": reading.model, "prompt": reading.prompt, "calls": reading.calls,
        "claims": len(reading.claims), "rejected": list(reading.rejected[:_KEPT]),
    }  # fmt: skip
    signals = orjson.loads(events.signals_of(tx, key) or "{}")
    events.keep_signals(tx, key, orjson.dumps({**signals, "model": kept}).decode())


def _waiting(event: Stored) -> list[object]:
    return list(orjson.loads(event.draft)) if event.draft else []


def _one(item: object) -> str:
    return msgspec.json.encode([item]).decode()


def joined(first: Receipt, second: Receipt | None) -> Receipt:
    """Two steps of one write as one receipt; undo takes the later one back first."""
    if second is None:
        return first
    if not second.changed:
        return replace(first, changes=(*first.changes, *second.changes))
    also = (first.known_at, *first.also) if first.changed else first.also
    return replace(
        second,
        changes=tuple(dict.fromkeys((*first.changes, *second.changes))),
        proposals=tuple(dict.fromkeys((*first.proposals, *second.proposals))),
        also=also,
    )
