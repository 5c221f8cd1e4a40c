"""What a pass is, and what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from worldline.clock import Instant
from worldline.config import Config
from worldline.consolidate.changes import Plan
from worldline.consolidate.news import News
from worldline.store.view import SqlView

if TYPE_CHECKING:
    from worldline.ports import Embedder


class Night(Struct, frozen=True):
    """What a pass is told besides the view."""

    scope: int
    """The scope set that what it makes belongs to."""
    now: Instant
    config: Config
    news: News
    waiting: tuple[int, ...] = ()
    """What it put off the last time."""
    embedder: Embedder | None = None


class Pass(Struct, frozen=True):
    """A pass: reads through the view, and says what is to change."""

    name: str
    does: str
    plan: Callable[[SqlView, Night], Plan]
    always: bool = False
    """Time alone gives it something to do, even where nothing is new."""
    asks: bool = False
    """It may ask a model, so it is never planned under the write lock."""
