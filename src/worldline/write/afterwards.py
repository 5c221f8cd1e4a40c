"""What is done once the words are safe: vectors, what a language model reads in them, and reading everything again.

What has no vector yet is embedded outside any transaction. The queue is what the store itself says is missing, so it
survives a crash. The first embedder that a store sees is written into it; another one is refused until everything is
embedded anew.

A language model proposes claims, and only what the text bears out is kept: each claim must quote the text; its subject
and object must occur there. What a model read has the lowest authority ("inferred"), so it never ends what somebody
said. The prompt is a file, and its hash goes with everything that it produced.

After an upgrade, or with a parser where there was none, everything is read again:

    events of another reader, in the order in which they were said → read (outside the lock) →
    withdraw what is no longer drawn → settle what is new → keep the reading

One changeset takes some fifty events, so that a run can be broken off and goes on where it stopped;
a second run finds nothing to do. What somebody gave, confirmed or corrected by hand is left alone,
and so is what rests on other words too, or was read by a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from itertools import groupby
from typing import Any, Literal

import msgspec
import orjson
from blake3 import blake3
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import FOREVER, Instant, to_datetime
from worldline.dates import find_dates
from worldline.errors import InvalidInput, Refused
from worldline.handle import Done, Handle
from worldline.model import Belief, Close, FactRow, Place, Receipt, Scope
from worldline.plugins import LanguageModel, LanguageModelError, open_language_model
from worldline.ports import Embedder, View
from worldline.reading import parser
from worldline.reading.claim import NOBODY, Claim, Cue, is_own_voice, predicate_key, role_of
from worldline.reading.read import Reading, reader
from worldline.rules.handlers import restore
from worldline.rules.slots import NOT
from worldline.store import events, indexing, people, slots
from worldline.store.events import Stored, stored_event
from worldline.store.held import require_identity
from worldline.store.indexing import Text, keep_vectors, without_vectors
from worldline.store.schema import WORDS_PER_NODE
from worldline.store.tx import Tx
from worldline.text import PASSAGE, fold, passages
from worldline.write.change import keep_back
from worldline.write.gate import ECHO, FLOOR, Signals, spoken
from worldline.write.given import recluster
from worldline.write.reconcile import DECODER, ENCODER, reading_of, settle

# Vectors ==============================================================================================

_BATCH = 64
SWEEP = 32
"""So many left-over texts are embedded with the first write of a process; flush does the rest."""
SIGNED = 5_000
"""After so many new vectors the index takes them in."""
Progress = Callable[[int, int], None]


def embed_new(handle: Handle, nodes: Iterable[int]) -> int:
    """Embeds these nodes; the first time in a process, a few that a crash has left without a vector too."""
    embedder = handle.embedder()
    if embedder is None:
        return 0
    left: list[int] = []
    if handle.tenant not in handle.store.swept:
        handle.store.swept.add(handle.tenant)
        left = [text.node for text in handle.read(lambda view: without_vectors(view, most=SWEEP))]
    chosen = {*left, *nodes}
    return _embed(handle, embedder, chosen, None) if chosen else 0


def embed_pending(handle: Handle, embedder: Embedder, progress: Progress | None = None) -> int:
    """Embeds everything that has no vector yet."""
    return _embed(handle, embedder, None, progress)


def _embed(
    handle: Handle, embedder: Embedder, nodes: Collection[int] | None, progress: Progress | None
) -> int:
    missing = handle.read(lambda view: _missing(handle, embedder, view, nodes))
    texts = _passages(missing)
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        vectors = embedder.embed([text for _, text in batch])
        _store(handle, embedder, [passage for passage, _ in batch], vectors)
        if progress:
            progress(min(start + _BATCH, len(texts)), len(texts))
    if texts:
        _catch_up(handle, len(texts), len(vectors[0]), done=nodes is None)
    return len(texts)


def _catch_up(handle: Handle, stored: int, width: int, *, done: bool) -> None:
    """Lets the index take in what was stored, now and then: else the first question after a load waits for it."""
    unseen = handle.store.unseen
    unseen[handle.tenant] = unseen.get(handle.tenant, 0) + stored
    if unseen[handle.tenant] >= SIGNED or done:
        unseen[handle.tenant] = 0
        index = handle.store.index_of(handle.tenant)
        handle.read(lambda view: index.catch_up(view, indexing.newest(view), width))


def _missing(handle: Handle, embedder: Embedder, view: View, nodes: Collection[int] | None) -> list[Text]:
    """The texts that have no vector yet; refused for another embedder than the one whose vectors are stored."""
    known = handle.tenant_row().embedder
    if known is not None:
        require_identity(known, embedder.identity)
    return without_vectors(view, nodes)


def _passages(missing: Sequence[Text]) -> list[tuple[int, str]]:
    return [(one.node * WORDS_PER_NODE + at, text) for one in missing for at, text in enumerate(_texts(one))]


def _texts(text: Text) -> list[str]:
    """What is embedded of a memory, passage by passage: who speaks or what it is called, and the words."""
    _, type_, name, content, metadata = text
    caption = metadata.get("caption")
    tail = f" [image: {caption}]" if isinstance(caption, str) else ""
    opening = f"{name}: " if name and not (type_ == "Turn" and role_of(name) != "people") else ""
    if len(content) <= PASSAGE:
        return [f"{opening}{content}{tail}"]
    parts = [opening + content[start:end] for start, end in passages(content)]
    return [parts[0] + tail, *parts[1:]]


def _store(handle: Handle, embedder: Embedder, ids: Sequence[int], vectors: Any) -> None:
    with handle.writing() as tenant:
        if tenant.embedder is None:
            indexing.sign_embedder(handle.store, tenant.id, embedder.identity)
        keep_vectors(handle.store, tenant.id, list(zip(ids, _packed(vectors), strict=True)))


def _packed(vectors: Any) -> list[bytes]:
    import numpy as np

    return [np.asarray(vector, np.float16).tobytes() for vector in vectors]


def embed_anew(handle: Handle, embedder: Embedder, progress: Progress | None, batch: int = _BATCH) -> int:
    """Makes every vector anew beside those in use, and switches once none is missing; how many texts that were."""
    number, done = handle.store.number(handle.tenant), 0
    with handle.writing():
        indexing.begin_anew(handle.store, number, embedder.identity)
    while True:
        texts = _passages(handle.read(indexing.not_anew))
        for start in range(0, len(texts), batch):
            part = texts[start : start + batch]
            packed = _packed(embedder.embed([text for _, text in part]))
            with handle.writing():
                vectors = list(zip([passage for passage, _ in part], packed, strict=True))
                indexing.keep_anew(handle.store, number, embedder.identity, vectors)
            done += len(part)
            if progress:
                progress(done, done + len(texts) - start - len(part))
        with handle.writing() as tenant:
            if not indexing.not_anew(handle.view(tenant)):
                indexing.switch_embedder(handle.store, number, embedder.identity)
                break
    handle.store.forget(handle.tenant)
    handle.store.swept.discard(handle.tenant)
    return done


# What a model reads ===================================================================================

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


def read_by_model(model: LanguageModel, message: ChatMessage, max_tokens: int) -> ModelReading:
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


def required_model(handle: Handle) -> LanguageModel:
    """The model that the settings name."""
    model = open_language_model(handle.config.model)
    if model is None:
        raise InvalidInput('understand = "model" needs a model: set model = "http://host/v1#name"')
    return model


def let_model_read(handle: Handle, ids: Sequence[str], left: str) -> Receipt | None:
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
    return read_by_model(required_model(handle), message, handle.config.model_tokens)


def _settle(
    tx: Tx, place: Place, handle: Handle, event: Stored, reading: ModelReading | None, left: str
) -> Done:
    changed = False
    if reading is not None:
        by = (("model", reading.model), ("prompt", reading.prompt))
        changed = settle(tx, reading.claims, event, place, handle, by)
        _keep_model_reading(tx, event.key, reading)
    rest = [item for item in _waiting(stored_event(tx, tx.id_of(event.key).hex())) if _one(item) != left]
    events.leave(tx, event.key, orjson.dumps(rest).decode() if rest else None)
    return tx.id_of(event.key), changed


def _keep_model_reading(tx: Tx, key: int, reading: ModelReading) -> None:
    """With the gate's signals: who read the event, with which prompt, and what was turned down."""
    kept = {
        "name": reading.model, "prompt": reading.prompt, "calls": reading.calls,
        "claims": len(reading.claims), "rejected": list(reading.rejected[:_KEPT]),
    }  # fmt: skip
    signals = orjson.loads(events.kept_of(tx, key, "signals") or "{}")
    events.keep(tx, key, "signals", orjson.dumps({**signals, "model": kept}).decode())


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


# Reading again ========================================================================================

BATCH = 50
"""So many events are one changeset."""
READ_ANEW = "read anew"
NOBODY_READ = "nobody"
_WEAK = frozenset({"user", "other", "inferred"})
_BY_HAND = ("amend", "correct", "retire", "confirmed", "quarantined", "undo")
"""Changesets in which somebody decided about a memory."""

RereadProgress = Callable[[str, int], None]


class Reread(Struct, frozen=True):
    """What reading everything again did."""

    reader: str
    events: int
    """How many were read again."""
    changed: int = 0
    """In how many of them something else was found."""
    believed: int = 0
    withdrawn: int = 0
    left: int = 0
    """How many still wait to be understood for the first time."""
    dry_run: bool = False


class Old(Struct, frozen=True):
    """An event that was read by another reader, and where it was said."""

    id: str
    key: int
    scopes: tuple[Scope, ...]
    world: int
    waits: bool


class RereadFact(Struct, frozen=True):
    """A fact that was drawn from an event, as far as reading again must know it."""

    row: FactRow | None
    """With its belief, where it is believed."""
    node: int
    subjects: frozenset[str]
    slots: frozenset[str]
    value: str
    weak: bool
    """Nobody has vouched for it, and it rests on this event alone."""
    by_hand: bool


# Who has read what ----------------------------------------------------------------------------------


class _Rereader(Struct):
    reader: str = ""


_READER = msgspec.msgpack.Decoder(_Rereader)


def readers(view: View) -> dict[str, int]:
    """How many events each reader has read; the empty name stands for none."""
    found: dict[str, int] = {}
    for kept in events.readings(view):
        name = _who(kept)
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _who(kept: bytes | None) -> str:
    try:
        return _READER.decode(kept).reader if kept else ""
    except msgspec.DecodeError:
        return ""


def is_stale(name: str, now: str) -> bool:
    """Whether what this reader read should be read again; an assistant's own words are nobody's."""
    return name != now and not name.startswith(NOBODY_READ)


def _todo(view: View, now: str, everything: bool) -> list[Old]:
    """The events to read again: those of one owner together, in the order in which they were said."""
    scopes = events.scope_sets(view)
    found = [
        Old(one.id, one.node, scopes.get(one.scope, ()), one.world, _waits(one.draft))
        for one in events.heard(view)
        if everything or is_stale(_who(one.reading), now)
    ]
    return sorted(found, key=_owner)  # stable, so that the order of time stays


def _owner(old: Old) -> tuple[str, ...]:
    """Facts of two owners, or of two worlds, never meet."""
    first = old.scopes[0] if old.scopes else Scope()
    return (first.user or "", first.agent or "", first.app or "", str(old.world))


def _waits(draft: str | None) -> bool:
    """Whether it was not understood even once; `resume` does that."""
    return any(item.get("extract") or item.get("facts") for item in orjson.loads(draft or "[]"))


# The walk ---------------------------------------------------------------------------------------------


def reread(
    handle: Handle, *, everything: bool = False, progress: RereadProgress | None = None, dry_run: bool = False
) -> Reread:
    """Reads again what another reader read (or everything), and brings the facts up to date."""
    if handle.config.understand == "off":
        raise Refused("the setting `understand` is off, so that nothing is read; set it to rules first")
    parser.parse(["Ready."])  # so that a damaged parser is known before anything is compared with it
    now = reader()
    todo = handle.read(lambda view: _todo(view, now, everything))
    done = Reread(now, 0, left=sum(old.waits for old in todo), dry_run=dry_run)
    for batch in _batches([old for old in todo if not old.waits]):
        done = _added(done, _batch(handle, batch, dry_run=dry_run))
        if progress is not None:
            progress(f"reading again, of {len(todo):,}", done.events)
    return done


def _batches(todo: Sequence[Old]) -> Iterator[list[Old]]:
    for _, group in groupby(todo, key=lambda old: (old.scopes, old.world)):
        same = list(group)
        yield from (same[at : at + BATCH] for at in range(0, len(same), BATCH))


def _added(done: Reread, more: Reread) -> Reread:
    sums = {
        name: getattr(done, name) + getattr(more, name)
        for name in ("events", "changed", "believed", "withdrawn")
    }
    return replace(done, **sums)


def _batch(handle: Handle, batch: Sequence[Old], *, dry_run: bool) -> Reread:
    """One changeset: the readings are made before it takes the lock."""
    bound = replace(handle, scopes=batch[0].scopes, world=batch[0].world, session=None)
    before = bound.read(lambda view: [stored_event(view, old.id) for old in batch])
    fresh = [reading_of(replace(event, reading=None), bound.scope.user) for event in before]
    counts: list[tuple[int, int]] = []
    done: Tx | None = None

    def work(tx: Tx, place: Place) -> Done:
        nonlocal done
        done = tx
        counts.clear()
        hands = slots.decided_by_hand(tx, _BY_HAND)
        for old, event, said in zip(batch, before, fresh, strict=True):
            if stored_event(tx, old.id).reading == event.reading:  # else somebody was faster
                counts.append(_again(tx, event, said, place, bound, hands))
        return None, any(map(any, counts))

    bound.write("reread", work, dry_run=dry_run)
    if not dry_run:
        recluster(bound, done)
    return Reread(
        "", len(batch), sum(map(any, counts)), sum(new for new, _ in counts), sum(gone for _, gone in counts)
    )


# One event ----------------------------------------------------------------------------------------------


def _again(
    tx: Tx, event: Stored, said: Reading, place: Place, handle: Handle, hands: frozenset[Instant]
) -> tuple[int, int]:
    """Settles what the new reading adds and takes away: (facts believed, facts withdrawn)."""
    kept = _kept(event)
    _keep(tx, event, said)
    if replace(said, reader="") == replace(kept, reader="") or not _is_worth_it(tx, event):
        return 0, 0
    drawn = list(_drawn(tx, event, place, hands))
    gone = [fact for fact in drawn if fact.weak and not any(_is_said(fact, claim) for claim in said.claims)]
    for fact in gone:
        _withdraw(tx, fact)
    known = {_meaning(claim) for claim in kept.claims}
    stays = [fact for fact in drawn if fact.by_hand or (fact.row is not None and fact not in gone)]
    given = {(subject, slot) for fact in drawn if not fact.weak and fact.row is not None for subject in fact.subjects
             for slot in fact.slots if slots.rank_of(tx, fact.node) == "given"}  # fmt: skip
    new = [
        claim
        for claim in said.claims
        if not any(_is_said(fact, claim) for fact in stays)
        and (fold(claim.subject), claim.key) not in given
        and (claim.effect != "ends" or _meaning(claim) not in known)
    ]
    if replace(said, reader="", claims=()) == replace(kept, reader="", claims=()):
        said = Reading(said.reader, said.claims)  # what it says beyond its claims has had its effect
    before = tx.next_row("beliefs")
    settle(tx, new, event, place, handle, said=said)
    return tx.next_row("beliefs") - before, len(gone)


def _kept(event: Stored) -> Reading:
    try:
        return DECODER.decode(event.reading) if event.reading else Reading("")
    except msgspec.DecodeError:
        return Reading("")


def _keep(tx: Tx, event: Stored, said: Reading) -> None:
    events.keep(tx, event.key, "reading", ENCODER.encode(said))


def _is_worth_it(tx: Tx, event: Stored) -> bool:
    """What the gate took for noise or an echo when it was said is no ground for facts now."""
    row = events.kept_of(tx, event.key, "signals")
    if not row or not is_own_voice(event.speaker):
        return is_own_voice(event.speaker)
    try:
        signals = msgspec.json.decode(row, type=Signals)
    except msgspec.DecodeError:
        return True
    return signals.salience >= FLOOR and signals.reason != ECHO


def _meaning(claim: Claim) -> Claim:
    """A claim without what does not change what it says."""
    return replace(claim, chars=(0, 0), confidence=0.0, predicate="", matter="")


def _is_said(fact: RereadFact, claim: Claim) -> bool:
    """Whether a claim says what a stored fact says."""
    return (
        fold(claim.subject) in fact.subjects
        and bool(fact.slots & {claim.key, f"{NOT}{claim.key}"})
        and (fold(claim.object) == fact.value or (claim.effect == "ends" and not claim.object))
    )


def _drawn(tx: Tx, event: Stored, place: Place, hands: Collection[Instant]) -> Iterator[RereadFact]:
    """Every fact that was ever drawn from an event in this scope."""
    for one in slots.drawn_from(tx, event.key, place.scope):
        beliefs = slots.beliefs_in(tx, one.row, place.scope)
        by_hand = any(at in hands for b in beliefs for at in (b.known.start, b.known.end))
        held = [b for b in beliefs if b.current]
        sound = one.rank in _WEAK and one.rests_on <= 1 and not by_hand and not one.by_model
        yield RereadFact(
            FactRow(one.row, one.subject, one.slot, one.object, one.literal, held[-1]) if held else None,
            one.row,
            frozenset(map(fold, people.ever_called(tx, one.subject))),
            frozenset({one.slot, one.key}),
            fold(one.value),
            sound and bool(held) and all(b.status == "believed" for b in held),
            by_hand,
        )


def _withdraw(tx: Tx, fact: RereadFact) -> None:
    """It was never said: it is given up, and what it had ended goes on."""
    row = fact.row
    assert row is not None
    content = slots.words_of(tx, fact.node)
    for belief in slots.beliefs_in(tx, fact.node, row.belief.scope):
        if belief.current:
            tx.close(Close(belief, reason=READ_ANEW), READ_ANEW)
            _reopen(tx, row, belief)
    tx.changes.append(f"{content}: withdrawn, the words do not say so")
    keep_back(tx, fact.node)


def _reopen(tx: Tx, fact: FactRow, gone: Belief) -> None:
    """Gives the facts of the slot that ended where this one began, because of it, their time back."""
    for node in slots.ended_at(tx, fact, gone.scope, gone.valid.start):
        all_ = slots.beliefs_in(tx, node, gone.scope)
        cut = [b for b in all_ if b.current and b.valid.end == gone.valid.start]
        for now in cut:
            former = [b for b in all_ if b.known.end == now.known.start and b.valid.start == now.valid.start]
            if former and now.known.start >= gone.known.start and former[-1].valid.end == FOREVER:
                tx.apply(restore([now], gone.valid.start, former[-1].valid), READ_ANEW)
