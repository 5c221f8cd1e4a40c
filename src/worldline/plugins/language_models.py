"""Language models: messages in, text out, over any OpenAI-compatible endpoint the user names.

One method, bounded in tokens and in time. Nothing is called unless a model is configured
(`model = "http://localhost:8080/v1#my-model"`); the key comes from WORLDLINE_MODEL_KEY.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from worldline.errors import InvalidInput, WorldlineError

TIMEOUT = 60.0
LONGEST = 4_000_000


class LanguageModelError(WorldlineError):
    """The model cannot be used; the message says why."""


class LanguageModel(Protocol):
    """One method; the answer has at most so many tokens."""

    name: str

    def complete(
        self, messages: Sequence[Mapping[str, str]], max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> str:
        """The answer's text; with a schema, JSON that meets it where the endpoint can see to that."""


def open_language_model(spec: str) -> LanguageModel | None:
    """The model that a setting names: none, or URL#MODEL of an OpenAI-compatible endpoint."""
    if spec in ("", "none"):
        return None
    if spec.startswith(("http://", "https://")):
        url, _, model = spec.partition("#")
        return Endpoint(url, model)
    raise InvalidInput(f"unknown model {spec!r}; use none, or URL#MODEL of an OpenAI-compatible endpoint")


class Endpoint:
    """An OpenAI-compatible `…/chat/completions` endpoint."""

    def __init__(self, url: str, model: str, timeout: float = TIMEOUT) -> None:
        if not model:
            raise InvalidInput("name the model after the address: http://host/v1#model")
        self._url = url.rstrip("/") + "/chat/completions"
        self._model, self._timeout = model, timeout
        self.name = f"{url}#{model}"

    def complete(
        self, messages: Sequence[Mapping[str, str]], max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> str:
        """The first choice's text."""
        body: dict[str, Any] = {
            "model": self._model, "messages": [dict(m) for m in messages], "max_tokens": max_tokens,
            "temperature": 0,
        }  # fmt: skip
        if schema is not None:
            named = {"name": "answer", "strict": True, "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        answer = self._post(json.dumps(body).encode())
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise LanguageModelError(f"{self._url} did not answer with a message") from None
        if not isinstance(text, str) or not text.strip():
            raise LanguageModelError(f"{self._url} answered with nothing")
        return text.strip()

    def _post(self, body: bytes) -> Any:
        import urllib.request

        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("WORLDLINE_MODEL_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                return json.loads(answer.read(LONGEST))
        except (OSError, ValueError) as error:
            raise LanguageModelError(f"{self._url} did not answer: {error}") from error
