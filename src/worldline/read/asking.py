"""All that a handle can be asked, and what the walks need for it: the words understood, their meaning, the wish.

Whatever calls a model (the question's embedding, a reranker) happens here, outside the store's snapshot.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from worldline.clock import NOW, When, instant
from worldline.errors import NotFound
from worldline.handle import Handle
from worldline.model import Metadata, Node, Recall, clean_count, clean_metadata, clean_text
from worldline.ports import View
from worldline.read.context import context as context
from worldline.read.episodes import episodes as episodes
from worldline.read.explain import explain as explain
from worldline.read.facts import ViewGraph, with_ids
from worldline.read.lanes import Semantic
from worldline.read.pack import CANDIDATES
from worldline.read.profile import profile as profile
from worldline.read.profile import somebody as somebody
from worldline.read.recall import Found, Wish, conclude
from worldline.read.recall import recall as recall
from worldline.read.relation_match import Likeness
from worldline.read.timeline import density as density
from worldline.read.timeline import timeline as timeline
from worldline.read.walk import Answer
from worldline.read.walk import walk as walk_over
from worldline.store import search

LONGEST_QUESTION = 65536
HEARD = 1200
"""Of a longer question so many characters are understood, half from its beginning and half from its end."""


def recalled(
    handle: Handle,
    question: str,
    asked_at: When | None,
    filters: Metadata | None,
    *,
    closed: bool,
    quarantined: bool,
    **given: Any,
) -> Recall:
    """A question's whole way: what it means, one snapshot in which everything is read, then the evidence packed."""
    semantic, likely, more = meaning(handle, question), likeness(handle), at_least(handle)

    def look(view: View) -> tuple[Found, Wish, int]:
        wanted = wish(handle, view, asked_at, at_least=more, **given)
        return recall(view, _understood(question), wanted, semantic, likely), wanted, view.tenant

    labels = {} if filters is None else clean_metadata(filters)
    found, wanted, tenant = handle.read(look, closed=closed, quarantined=quarantined, labels=labels)
    answer = answered(handle, question, found, wanted)
    if not (wanted.explain or wanted.without or closed):
        note_shown(handle, tenant, answer)
    return answer


def heard(question: str, what: str = "question") -> str:
    """A question as it is understood, once it is known to be one."""
    return _understood(clean_text(question, what, LONGEST_QUESTION))


def _understood(question: str) -> str:
    """The whole question, or its beginning and its end."""
    if len(question) <= HEARD:
        return question
    return f"{question[: HEARD // 2]} {question[-HEARD // 2 :]}"


def wish(handle: Handle, view: View, asked_at: When | None, **given: Any) -> Wish:
    """What is asked for, with what the handle and its config add."""
    for count in ("max_tokens", "limit"):
        if given.get(count) is not None:
            clean_count(given[count], count)
    if given.get("max_tokens") is None:
        given["max_tokens"] = handle.config.max_tokens
    session = view.session(handle.session) if handle.session else 0
    return Wish(view.valid if asked_at is None else instant(asked_at), session=session, **given)


def at_least(handle: Handle) -> int:
    """So many candidates are read where a reranker will choose among them."""
    return CANDIDATES if handle.reranker() is not None else 0


def meaning(handle: Handle, question: str) -> Semantic | None:
    """The question as a vector, if there is an embedder; made before anything is read."""
    clean_text(question, "question", LONGEST_QUESTION)
    embedder = handle.embedder()
    if embedder is None:
        return None
    return Semantic(embedder.embed([question])[0], embedder.identity, handle.store.index_of(handle.tenant))


def likeness(handle: Handle) -> Likeness:
    """Similarities of relations and words, kept for the life of the store."""
    held: Likeness | None = handle.store.likeness
    if held is None:
        embedder = handle.embedder()
        held = handle.store.likeness = Likeness(embedder.embed if embedder else None)
    return held


def answered(handle: Handle, question: str, found: Found, wish: Wish) -> Recall:
    """What a recall says, after a reranker has looked at it."""
    answer = replace(conclude(found, wish, handle.reranker()), question=question)
    if wish.explain and len(question) > HEARD:
        cut = f"the question is long; its first and last {HEARD // 2} characters were understood"
        answer = replace(answer, trace=(cut, *answer.trace))
    return answer


def walk(view: View, question: str, likeness: Likeness, limit: int) -> Answer:
    """What walking over the facts that are believed answers."""
    return with_ids(view, walk_over(question, ViewGraph(view), likeness, limit))


def note_shown(handle: Handle, tenant: int, answer: Recall) -> None:
    """What was shown stays warm: noted in mind, and written down with the tenant's next write."""
    if handle.config.log_uses and handle.moment == NOW:
        shown = [hit.node.line for hit in answer.hits] + [fact.line for fact in answer.facts]
        handle.store.note_shown(tenant, shown, handle.clock())


def expected(handle: Handle, view: View, ref: Any) -> Node:
    """The memory that somebody misses in an answer, whatever became of it."""
    target = handle.resolve(view, ref)
    line = target.line
    node = view.payload(target.key) if target.key else view.one(line) or view.latest(line)
    if node is None:
        raise NotFound("no memory with this id in this tenant, scope and world; that is why")
    return node


def of_user(view: View, user: str | None) -> View:
    """The view in the scope of a user, where the name is one."""
    if user is not None:
        clean_text(user, "user", LONGEST_QUESTION)
    if user and not view.scope.user and search.has_user(view, user):
        return view.bind(scope=replace(view.scope, user=user))
    return view
