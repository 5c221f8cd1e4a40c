"""The closed ontology: which types a world knows, and what to say to one that it does not.

It decides names only; what an edge type does is in `handlers.py`. Operators extend it for a world
and everything below; agents cannot.

>>> AGENT_TYPES[0]
'project'
"""

from __future__ import annotations

import difflib
from collections.abc import Collection

from worldline.errors import UnknownType
from worldline.rules.handlers import BUILT_IN

AGENT_TYPES = ("project", "reference", "learning", "feedback", "context", "user")
OPERATOR_TYPES = ("Entity", "Happening", "Decision", "Topic", "Summary")
ENGINE_TYPES = ("Scope", "Session", "Turn", "Fact")
NODE_TYPES = AGENT_TYPES + OPERATOR_TYPES + ENGINE_TYPES
EDGE_TYPES = tuple(BUILT_IN)
AGENT_EDGES = tuple(name for name, type_ in BUILT_IN.items() if type_.agent_facing)


def require(name: str, allowed: Collection[str], what: str) -> str:
    """The name itself, if it is allowed; otherwise an error with the list and the nearest match."""
    if name in allowed:
        return name
    near = difflib.get_close_matches(str(name), list(allowed), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UnknownType(f"unknown {what} {name!r}{hint}; allowed here: {', '.join(allowed)}")
