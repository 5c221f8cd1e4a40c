"""The model's turn: after the words and the rules' facts are safe, and never inside a transaction.

It decides which events a model reads, how many, and what becomes of its answer: settled in a
changeset of its own, turned down with the reasons kept, or left pending for `resume` when the
endpoint does not answer. The gate's verdict has decided before who is worth a model.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import orjson
from msgspec.structs import replace

from worldline.clock import to_datetime
from worldline.errors import InvalidInput
from worldline.handle import Done, Handle, Place
from worldline.model import Receipt
from worldline.plugins.language_models import LanguageModel, LanguageModelError, open_language_model
from worldline.ports import Tx
from worldline.store import events
from worldline.store.events import Stored, stored_event
from worldline.write import model_extract
from worldline.write.echo import spoken
from worldline.write.reconcile import NOBODY, is_own_voice, settle

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


def _read(handle: Handle, event: Stored) -> model_extract.Reading | None:
    """What the model makes of an event; None when nobody is to read it any more."""
    if handle.config.understand != "model" or not is_own_voice(event.speaker):
        return None
    said_at = to_datetime(event.said_at, event.utc_offset)
    message = model_extract.Message(spoken(event.text), event.speaker or NOBODY, said_at)
    return model_extract.read(required(handle), message, handle.config.model_tokens)


def _settle(
    tx: Tx, place: Place, handle: Handle, event: Stored, reading: model_extract.Reading | None, left: str
) -> Done:
    changed = False
    if reading is not None:
        by = (("model", reading.model), ("prompt", reading.prompt))
        changed = settle(tx, reading.claims, event, place, handle, by)
        _keep(tx, event.key, reading)
    rest = [item for item in _waiting(stored_event(tx, tx.id_of(event.key).hex())) if _one(item) != left]
    events.leave(tx, event.key, orjson.dumps(rest).decode() if rest else None)
    return tx.id_of(event.key), changed


def _keep(tx: Tx, key: int, reading: model_extract.Reading) -> None:
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
