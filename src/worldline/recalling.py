"""The half of Memory that answers questions: recall, timeline, density, why not, and its vectors.

It binds the parts together and decides nothing itself: the walk is in `read/recall.py`. Whatever
calls a model (the question's embedding, a reranker) happens outside the store's snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from worldline.clock import EARLIEST, FOREVER, When, instant
from worldline.errors import InvalidInput, NotFound
from worldline.handle import Handle
from worldline.model import Dated, Density, Explanation, Metadata, Node, Recall
from worldline.ports import View
from worldline.write.check import clean_metadata, clean_text
from worldline.write.embed import embed_anew, embed_pending

if TYPE_CHECKING:
    from worldline.read.context import Context
    from worldline.read.lanes import Semantic
    from worldline.read.recall import Wish
    from worldline.read.relation_match import Matcher
    from worldline.read.walk import Answer

LONGEST_QUESTION = 65536
CONTEXT = 800
"""Tokens of a context block, where nobody says how many."""
HEARD = 1200
"""Of a longer question so many characters are understood, half from its beginning and half from its end."""


def heard(question: str) -> str:
    """A question as it is understood: whole, or its beginning and its end."""
    if len(question) <= HEARD:
        return question
    return f"{question[: HEARD // 2]} {question[-HEARD // 2 :]}"


class Recalling:
    """What a handle can be asked. The modules behind it bring numpy, so they are loaded when needed."""

    _h: Handle

    def recall(
        self,
        question: str,
        *,
        max_tokens: int | None = None,
        asked_at: When | None = None,
        limit: int | None = None,
        filters: Metadata | None = None,
        explain: bool = False,
        include_superseded: bool = False,
        include_quarantined: bool = False,
        without: Collection[str] = (),
    ) -> Recall:
        """The evidence for an answer, verbatim and dated, within `max_tokens`; or why there is none.

        `asked_at` is the moment that "yesterday" is relative to. Without a `limit` the question
        decides: more for lists, orders and summaries. `filters` is metadata that must be equal.
        """
        from worldline.read import recall as recalling
        from worldline.read.pack import CANDIDATES

        semantic, matcher, reranker = self._meaning(question), self._matcher(), self._h.reranker()
        opened = {"closed": include_superseded, "quarantined": include_quarantined}
        given = {"max_tokens": max_tokens, "limit": limit, "explain": explain, "without": frozenset(without)}
        if reranker is not None:
            given["at_least"] = CANDIDATES

        def look(view: View) -> tuple[recalling.Found, Wish, int]:
            view = view.bind(**opened, labels=clean_metadata(filters))
            wish = self._wish(view, asked_at, **given)
            return recalling.recall(view, heard(question), wish, semantic, matcher), wish, view.tenant

        found, wish, tenant = self._h.read(look)
        answer = replace(recalling.conclude(found, wish, reranker), question=question)
        if explain and len(question) > HEARD:
            cut = f"the question is long; its first and last {HEARD // 2} characters were understood"
            answer = replace(answer, trace=(cut, *answer.trace))
        if (
            self._h.config.log_uses
            and self._h.moment.is_now
            and not (explain or without or include_superseded)
        ):
            shown = [hit.node.line for hit in answer.hits] + [fact.line for fact in answer.facts]
            self._h.store.note_shown(tenant, shown, self._h.clock())
        return answer

    def context(self, user: str | None = None, *, max_tokens: int = CONTEXT) -> Context:
        """What to know before a session begins: who the user is, what they asked for, what holds, comes and went.

        `user` is a user scope of this memory, or the name of somebody who speaks or is spoken of in it;
        without one, the bound user, or the only one who speaks here.
        """
        from worldline.read.context import context
        from worldline.store.briefing import has_user

        if type(max_tokens) is not int or max_tokens < 1:
            raise InvalidInput(f"a budget is at least one token, not {max_tokens!r}")
        if user is not None:
            clean_text(user, "user", LONGEST_QUESTION)

        def look(view: View) -> Context:
            if user and not view.scope.user and has_user(view, user):
                view = view.bind(scope=replace(view.scope, user=user))
            return context(view, user, max_tokens)

        return self._h.read(look)

    def timeline(
        self,
        topic: str,
        from_: When | None = None,
        to: When | None = None,
        *,
        limit: int = 50,
        include_superseded: bool = False,
    ) -> tuple[Dated, ...]:
        """What happened about a topic within a stretch of time, in order, each with its evidence."""
        from worldline.read.timeline import timeline

        semantic = self._meaning(topic)
        within = (EARLIEST if from_ is None else instant(from_), FOREVER if to is None else instant(to))

        def look(view: View) -> tuple[Dated, ...]:
            view, wish = view.bind(closed=True), self._wish(view, None, limit=limit)
            return timeline(view, heard(topic), wish, semantic, within, withdrawn=include_superseded)

        return self._h.read(look)

    def density(self, topic: str) -> Density:
        """What is already covered around a topic: memories, facts, sources, freshness, open conflicts."""
        from worldline.read.density import density

        clean_text(topic, "topic", LONGEST_QUESTION)
        return self._h.read(lambda view: density(view, heard(topic)))

    def explain(
        self,
        question: str,
        expect: Any,
        *,
        max_tokens: int | None = None,
        asked_at: When | None = None,
        limit: int | None = None,
        filters: Metadata | None = None,
    ) -> Explanation:
        """Why a memory is not in the answer to a question: which filter, lane, rank or budget lost it."""
        from worldline.read.explain import explain

        semantic = self._meaning(question)

        def look(view: View) -> Explanation:
            target = self._h.resolve(view, expect)
            line = target.line
            node = view.payload(target.key) if target.key else view.one(line) or view.latest(line)
            if node is None:
                raise NotFound("no memory with this id in this tenant, scope and world; that is why")
            bound = view.bind(labels=clean_metadata(filters))
            wish = self._wish(view, asked_at, max_tokens=max_tokens, limit=limit)
            return explain(bound, heard(question), wish, semantic, node)

        return self._h.read(look)

    def walk_answer(self, question: str, *, limit: int = 5) -> Answer:
        """Answers a question of several hops by walking what is currently believed; the path is its proof."""
        from worldline.read.facts import ViewGraph, with_ids
        from worldline.read.walk import walk

        clean_text(question, "question", LONGEST_QUESTION)
        matcher = self._matcher()
        return self._h.read(
            lambda view: with_ids(view, walk(heard(question), ViewGraph(view), matcher, limit))
        )

    def flush(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Embeds everything that has no vector yet; how many texts that were."""
        self._h.require_free("embedded")
        embedder = self._h.embedder()
        return 0 if embedder is None else embed_pending(self._h, embedder, progress)

    def reembed(self, progress: Callable[[int, int], None] | None = None, *, batch: int = 64) -> int:
        """Makes every vector anew with the embedder that is configured now; how many texts that were.

        The new ones lie beside the old ones, which answer until none is missing; then all are switched at once.
        Broken off, it goes on where it stopped. A process that runs with the old embedder answers by words then.
        """
        self._h.require_free("embedded")
        embedder = self._h.embedder()
        return 0 if embedder is None else embed_anew(self._h, embedder, progress, batch)

    def _offsets(self, nodes: Iterable[Node]) -> dict[str, int]:
        """For turns and facts the minutes from UTC to the place where it was said, where that is not 0."""
        from worldline.store.briefing import offsets

        said = {node.key: node.id for node in nodes if node.type in ("Turn", "Fact")}
        found = self._h.read(lambda view: offsets(view, list(said)))
        return {said[key]: minutes for key, minutes in found.items()}

    def _wish(self, view: View, asked_at: When | None, **given: Any) -> Wish:
        from worldline.read.recall import Wish

        if given.get("max_tokens") is None:
            given["max_tokens"] = self._h.config.max_tokens
        session = view.session(self._h.session) if self._h.session else 0
        return Wish(view.valid if asked_at is None else instant(asked_at), session=session, **given)

    def _meaning(self, question: str) -> Semantic | None:
        """The question as a vector, if there is an embedder; made before anything is read."""
        from worldline.read.lanes import Semantic

        clean_text(question, "question", LONGEST_QUESTION)
        embedder = self._h.embedder()
        if embedder is None:
            return None
        index = self._h.store.index_of(self._h.tenant)
        return Semantic(embedder.embed([question])[0], embedder.identity, index)

    def _matcher(self) -> Matcher:
        """Similarities of relations and words, kept for the life of the store."""
        from worldline.read.relation_match import Matcher

        held: Matcher | None = self._h.store.matcher
        if held is None:
            embedder = self._h.embedder()
            held = self._h.store.matcher = Matcher(embedder.embed if embedder else None)
        return held
