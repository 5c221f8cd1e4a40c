"""Public evaluation files, read into one neutral shape.

It decides what a conversation, a message and a question are in each file format; it does not
remember, recall or score anything.  The shape of a file is recognised from its content, plain or
gzip-compressed; a folder of chats is read as one file.

>>> for conversation in load("locomo", Path("locomo10.json")):   # doctest: +SKIP
...     print(conversation.name, len(conversation.messages), len(conversation.questions))
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

LOCOMO_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "inference",
    4: "single-hop",
    5: "adversarial",
}


class BenchMessage(msgspec.Struct, frozen=True):
    """One thing said: ``role`` is people, user or assistant; times are microseconds UTC."""

    id: str
    session: str
    speaker: str
    role: str
    text: str
    caption: str = ""
    said_at: int | None = None


class BenchQuestion(msgspec.Struct, frozen=True):
    """One question with its gold; ``sessions`` limits what may be searched (None: everything)."""

    id: str
    text: str
    category: str
    gold: tuple[str, ...] = ()
    gold_sessions: tuple[str, ...] = ()
    asked_at: int | None = None
    answerable: bool = True
    sessions: tuple[str, ...] | None = None
    answer: str = ""


class Conversation(msgspec.Struct, frozen=True):
    """Messages in order, session by session, and the questions asked about them."""

    name: str
    messages: tuple[BenchMessage, ...]
    questions: tuple[BenchQuestion, ...]


def load(dataset: str, path: Path) -> list[Conversation]:
    """All conversations of one file (or folder) of the named data set."""
    try:
        read = LOADERS[dataset]
    except KeyError:
        raise ValueError(f"unknown data set {dataset!r}; one of {', '.join(LOADERS)}") from None
    return list(read(content(path)))


def digest(path: Path) -> str:
    """SHA-256 of a file, or of the files of a folder in name order."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*.json*")) if path.is_dir() else [path]:
        total.update(file.read_bytes())
    return total.hexdigest()


def content(path: Path) -> Any:
    """The JSON of a file, plain or compressed, or of a folder's files by name."""
    if path.is_dir():
        return {str(f.relative_to(path)): content(f) for f in sorted(path.rglob("*.json*"))}
    raw = path.read_bytes()
    return msgspec.json.decode(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)


_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name[:3]: n for n, name in enumerate(_MONTHS.split(), 1)}
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)\s*(am|pm)?", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(\d{4})\D(\d{1,2})\D(\d{1,2})")
_DAY_MONTH = re.compile(r"(\d{1,2})\s+([A-Za-z]{3})[a-z]*,?\s+(\d{4})")
_MONTH_DAY = re.compile(r"([A-Za-z]{3})[a-z]*[-\s](\d{1,2})[-,\s]+(\d{4})")


def instant(written: str | None) -> int | None:
    """A date as the files write it, as microseconds UTC; None where there is none."""
    day = _date(written or "")
    if day is None:
        return None
    hour = minute = 0
    if clock := _CLOCK.search(written or ""):
        hour, minute = int(clock[1]), int(clock[2])
        if clock[3]:
            hour = hour % 12 + (12 if clock[3].lower() == "pm" else 0)
    moment = datetime(*day, hour, minute, tzinfo=UTC)
    return int(moment.timestamp()) * 1_000_000


def _date(written: str) -> tuple[int, int, int] | None:
    if found := _YEAR_FIRST.search(written):
        return int(found[1]), int(found[2]), int(found[3])
    if found := _DAY_MONTH.search(written):
        return int(found[3]), _MONTH[found[2].lower()], int(found[1])
    if found := _MONTH_DAY.search(written):
        return int(found[3]), _MONTH[found[1].lower()], int(found[2])
    return None


def _unique(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _question(
    messages: Mapping[str, BenchMessage], gold: Iterable[str], question: BenchQuestion
) -> BenchQuestion:
    """The question with those gold ids that exist, and the sessions they are in."""
    known = _unique(g for g in gold if g in messages)
    sessions = question.gold_sessions or _unique(messages[g].session for g in known)
    return msgspec.structs.replace(question, gold=known, gold_sessions=sessions)


# LoCoMo: two named people, numbered sessions with a date.


def _locomo(content: Any) -> Iterator[Conversation]:
    for sample in content:
        messages = tuple(_locomo_messages(sample["conversation"]))
        by_id = {m.id: m for m in messages}
        questions = tuple(
            _locomo_question(f"{sample['sample_id']}/{n}", qa, by_id) for n, qa in enumerate(sample["qa"])
        )
        yield Conversation(str(sample["sample_id"]), messages, questions)


def _locomo_messages(talk: Mapping[str, Any]) -> Iterator[BenchMessage]:
    numbers = sorted(int(k[8:]) for k in talk if re.fullmatch(r"session_\d+", k))
    for number in numbers:
        said_at = instant(talk.get(f"session_{number}_date_time"))
        for turn in talk[f"session_{number}"]:
            yield BenchMessage(
                id=turn["dia_id"],
                session=f"session_{number}",
                speaker=turn["speaker"],
                role="people",
                text=turn.get("text") or "",
                caption=turn.get("blip_caption") or "",
                said_at=said_at,
            )


def _locomo_question(name: str, qa: Mapping[str, Any], by_id: Mapping[str, BenchMessage]) -> BenchQuestion:
    gold = [g for e in qa.get("evidence") or () for g in re.findall(r"D\d+:\d+", e)]
    category = LOCOMO_CATEGORIES[qa["category"]]
    answer = str(qa.get("answer", ""))
    plain = BenchQuestion(name, qa["question"], category, answerable=category != "adversarial", answer=answer)
    return _question(by_id, gold, plain)


# LongMemEval: pooled sessions, or a list of questions that carry their own sessions.


def _longmemeval(content: Any) -> Iterator[Conversation]:
    if isinstance(content, dict):
        messages = tuple(
            message
            for name, session in content["sessions"].items()
            for message in _lme_session(name, session["date"], session["turns"])
        )
        yield _lme_conversation("pooled", messages, content["questions"], content["sessions"])
        return
    for item in content:
        turns = dict(zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True))
        dates = dict(zip(item["haystack_session_ids"], item["haystack_dates"], strict=True))
        messages = tuple(m for s, t in turns.items() for m in _lme_session(s, dates[s], t))
        sessions = {s: {"turns": t} for s, t in turns.items()}
        yield _lme_conversation(item["question_id"], messages, [item], sessions)


def _lme_session(name: str, date: str, turns: Iterable[Mapping[str, Any]]) -> Iterator[BenchMessage]:
    said_at = instant(date)
    for n, turn in enumerate(turns):
        role = "assistant" if turn["role"] == "assistant" else "user"
        yield BenchMessage(f"{name}/{n}", name, role, role, turn["content"], said_at=said_at)


def _lme_conversation(
    name: str, messages: tuple[BenchMessage, ...], items: Any, sessions: Mapping[str, Any]
) -> Conversation:
    by_id = {m.id: m for m in messages}
    questions = []
    for item in items:
        gold = [
            f"{s}/{n}"
            for s in item["answer_session_ids"]
            for n, turn in enumerate(sessions.get(s, {"turns": ()})["turns"])
            if turn.get("has_answer")
        ]
        plain = BenchQuestion(
            id=item["question_id"],
            text=item["question"],
            category=item["question_type"],
            gold_sessions=tuple(item["answer_session_ids"]),
            asked_at=instant(item.get("question_date")),
            answerable=not item["question_id"].endswith("_abs"),
            sessions=tuple(item["haystack_session_ids"]),
            answer=str(item.get("answer", "")),
        )
        questions.append(_question(by_id, gold, plain))
    return Conversation(name, messages, tuple(questions))


# BEAM: one user and one assistant, batches of turns, questions by type.


def _beam(content: Any) -> Iterator[Conversation]:
    for name, entry in _beam_entries(content):
        messages = tuple(_beam_messages(entry["chat"]))
        by_id = {m.id: m for m in messages}
        questions = tuple(
            _beam_question(f"{name}/{kind}/{n}", kind, item, by_id)
            for kind, items in entry["probing_questions"].items()
            for n, item in enumerate(items)
        )
        yield Conversation(name, messages, questions)


def _beam_entries(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """One file with everything, or a folder: N/chat.json, N/probing_questions/….json."""
    if any(isinstance(v, dict) and "probing_questions" in v for v in content.values()):
        yield from content.items()
        return
    for path, chat in content.items():
        folder, _, file = path.rpartition("/")
        if not file.startswith("chat.json"):
            continue
        questions = [v for k, v in content.items() if k.startswith(f"{folder}/probing_questions")]
        if questions:
            yield folder or "chat", {"chat": chat, "probing_questions": questions[0]}


def _beam_messages(chat: Any) -> Iterator[BenchMessage]:
    said_at = None
    for batch in chat:
        session = str(batch["batch_number"])
        said_at = instant(batch.get("time_anchor")) or said_at
        for turn in (t for group in batch["turns"] for t in group):
            said_at = instant(turn.get("time_anchor")) or said_at
            role = "assistant" if turn["role"] == "assistant" else "user"
            text = re.sub(r"\s*->->\s*[\d,\s]*$", "", turn["content"])
            yield BenchMessage(str(turn["id"]), session, role, role, text, said_at=said_at)


def _beam_question(
    name: str, kind: str, item: Mapping[str, Any], by_id: Mapping[str, BenchMessage]
) -> BenchQuestion:
    gold = map(str, _leaves(item.get("source_chat_ids") or []))
    answer = str(item.get("answer") or item.get("ideal_answer") or item.get("ideal_response") or "")
    plain = BenchQuestion(name, item["question"], kind, answerable=kind != "abstention", answer=answer)
    return _question(by_id, gold, plain)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        yield from _leaves(item)


# MemDaily: what one user notes down, day by day; the messages of a file are one store.


def _memdaily(content: Any) -> Iterator[Conversation]:
    for name, tracks in content.items() if isinstance(content, dict) else [("file", content)]:
        messages = tuple(_memdaily_message(t, m) for t in tracks for m in t["message_list"])
        by_id = {m.id: m for m in messages}
        questions = tuple(
            _memdaily_question(name, track, item, by_id)
            for track in tracks
            for item in track["question_list"]
        )
        yield Conversation(name, messages, questions)


def _memdaily_message(track: Mapping[str, Any], item: Mapping[str, Any]) -> BenchMessage:
    session = str(track["tid"])
    said_at = instant(item.get("time"))
    return BenchMessage(f"{session}/{item['mid']}", session, "user", "user", item["message"], "", said_at)


def _memdaily_question(
    name: str, track: Mapping[str, Any], item: Mapping[str, Any], by_id: Mapping[str, BenchMessage]
) -> BenchQuestion:
    tid = track["tid"]
    gold = [f"{tid}/{step}" for step in _leaves(item["target_step_id"])]
    plain = BenchQuestion(
        id=f"{name}/{tid}/{item['qid']}",
        text=item["question"],
        category=name,
        asked_at=instant(item.get("time")),
        answer=str(item.get("answer", "")),
    )
    return _question(by_id, gold, plain)


# RealMem: a user and an assistant; a query's gold are earlier sessions.


def _realmem(content: Any) -> Iterator[Conversation]:
    files = {"dialogues": content} if "dialogues" in content else content
    for name, file in files.items():
        yield _realmem_conversation(name.split("_dialogues")[0], file["dialogues"])


def _realmem_conversation(name: str, dialogues: Any) -> Conversation:
    messages: list[BenchMessage] = []
    questions: list[BenchQuestion] = []
    earlier: list[str] = []
    for number, dialogue in enumerate(dialogues):
        session, said_at = dialogue["session_uuid"], instant(dialogue.get("current_time"))
        turns = dialogue["dialogue_turns"]
        for n, turn in enumerate(turns):
            role = "assistant" if turn["speaker"].lower() == "assistant" else "user"
            ident = f"{number}/{n}"
            messages.append(BenchMessage(ident, session, role, role, turn["content"], "", said_at))
            gold = turns[n + 1].get("memory_session_uuids") if n + 1 < len(turns) else None
            if turn.get("is_query") and gold:
                kept = _unique(s for s in gold if s in earlier)
                kind = str(turn.get("category_name") or "query")
                scope = tuple(earlier)
                questions.append(BenchQuestion(ident, turn["content"], kind, (), kept, said_at, True, scope))
        earlier.append(session)
    asked = tuple(q for q in questions if q.gold_sessions)
    return Conversation(name, tuple(messages), asked)


# Stories and little memories: messages of named people, questions whose gold are messages.


def _stories(content: Any) -> Iterator[Conversation]:
    for story in content:
        messages = tuple(_story_message(f"{n}", m) for n, m in enumerate(story["messages"]))
        by_id = {m.id: m for m in messages}
        questions = tuple(
            _story_question(f"{story['id']}/{n}", item, by_id) for n, item in enumerate(story["questions"])
        )
        yield Conversation(str(story["id"]), messages, questions)


def _story_message(place: str, item: Mapping[str, Any]) -> BenchMessage:
    speaker = item["speaker"]
    role = speaker if speaker in ("user", "assistant") else "people"
    session = str(item.get("session") or place)
    return BenchMessage(
        str(item.get("id") or place), session, speaker, role, item["text"], "", instant(item["said_at"])
    )


def _story_question(name: str, item: Mapping[str, Any], by_id: Mapping[str, BenchMessage]) -> BenchQuestion:
    kind = "unanswerable" if item.get("unanswerable") else str(item.get("kind") or "small")
    instead = [other for others in item.get("instead", {}).values() for other in others]
    plain = BenchQuestion(
        name,
        item["question"],
        kind,
        asked_at=instant(item.get("asked_at")),
        answerable=kind != "unanswerable",
        answer=str(item.get("answer") or ""),
    )
    return _question(by_id, map(str, [*item["gold"], *instead]), plain)


LOADERS: dict[str, Callable[[Any], Iterator[Conversation]]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "beam": _beam,
    "memdaily": _memdaily,
    "realmem": _realmem,
    "stories": _stories,
}
