from worldline.read.describe import Described, describe
from worldline.text import fold

_USER = frozenset({"user", "human", "me", "customer"})
_MACHINE = frozenset({"assistant", "ai", "bot", "agent", "model", "system", "tool", "chatbot"})


def role_of(speaker: str) -> str:
    """Who speaks: a person by name, the user of an assistant, or the assistant."""
    name = fold(speaker)
    return "user" if name in _USER else "assistant" if name in _MACHINE else "people"


__all__ = ["Described", "describe", "role_of"]
