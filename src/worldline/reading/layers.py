"""The first layers of the parser's model, taken in few steps: what each word is, then what stands around it.

The library that runs them wraps every product of matrices into objects that training needs; of a sentence of ten words
that takes longer than the products. The steps here are the same ones, on the same rows, in the same order, so the
numbers are the same to the last bit; a model that is made otherwise is left as it is. What a word is by itself
follows from six features of it, and is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

_SHAPE = "residual(expand_window>>maxout>>layernorm>>dropout)"
BLOCKS = 4
"""So many looks at the neighbours, and so many empty rows around each text."""
KEPT = 16_384
"""So many words are kept, as 96 numbers each."""


class _Block(Struct, frozen=True):
    """One look at the neighbours: products, the best of some, levelled."""

    weights: Any
    bias: Any
    pieces: int
    gain: Any
    shift: Any


class Lean:
    """The layers of a model of this very shape."""

    def __init__(self, model: Any) -> None:
        self._embed, encode = model.layers
        self._ops, self._pad = model.ops, encode.attrs["pad"]
        self._columns = self._embed.layers[0].attrs["columns"]
        self._blocks = [_block(residual) for residual in encode.layers[0].layers]
        self._words: dict[bytes, Any] = {}

    def __call__(self, docs: Sequence[Any]) -> list[Any]:
        """For each text the numbers of its words."""
        keys = [[row.tobytes() for row in doc.to_array(self._columns)] for doc in docs]
        width, pad = self._blocks[0].gain.shape[0], self._pad
        rows = np.zeros((sum(map(len, keys)) + pad * (len(docs) + 1), width), np.float32)
        starts, at = list[int](), pad
        for doc, own in zip(docs, keys, strict=True):
            starts.append(at)
            if own:
                rows[at : at + len(own)] = self._of_words(doc, own)
            at += len(own) + pad
        for block in self._blocks:  # the outermost rows have told their neighbours what they had to tell
            rows = rows[1:-1] + self._looked_around(rows, block)
        return [rows[at - pad : at - pad + len(own)] for at, own in zip(starts, keys, strict=True)]

    def _of_words(self, doc: Any, keys: Sequence[bytes]) -> list[Any]:
        known = self._words
        found = [known.get(key) for key in keys]
        if any(row is None for row in found):
            (made,) = self._embed.predict([doc])
            if len(known) + len(keys) > KEPT:
                known.clear()
            known.update((key, row.copy()) for key, row in zip(keys, made, strict=True) if key not in known)
            return list(made)
        return found

    def _looked_around(self, rows: Any, block: _Block) -> Any:
        near = self._ops.seq2col(rows, 1)[1:-1]
        sums = self._ops.gemm(near, block.weights, trans2=True)
        sums += block.bias
        best, _ = self._ops.maxout(sums.reshape(len(near), sums.shape[1] // block.pieces, block.pieces))
        width = best.shape[1]
        off = best - np.add.reduce(best, axis=1, keepdims=True) / np.float32(width)
        spread = np.add.reduce(off * off, axis=1, keepdims=True) / np.float32(width) + 1e-08
        level = off * spread ** (-1.0 / 2.0)
        level *= block.gain
        level += block.shift
        return level


def _block(residual: Any) -> _Block:
    _, maxout, norm, _ = [one for layer in residual.layers[0].layers for one in _flat(layer)]
    weights = maxout.get_param("W")
    return _Block(
        weights.reshape(-1, weights.shape[2]), maxout.get_param("b").reshape(-1), weights.shape[1],
        norm.get_param("G"), norm.get_param("b"),
    )  # fmt: skip


def _flat(layer: Any) -> list[Any]:
    """The layers of a chain, one after the other."""
    return [one for inner in layer.layers for one in _flat(inner)] if layer.layers else [layer]


def made_lean(pipeline: Any) -> None:
    """Has a pipeline take the few steps, if its model is of the shape that they are made for."""
    pipe = pipeline.get_pipe("tok2vec")
    model = pipe.model
    names = [layer.name for layer in model.layers]
    shaped = len(names) == 2 and model.layers[1].layers[0].name == ">>".join([_SHAPE] * BLOCKS)
    if not shaped or model.layers[1].attrs.get("pad") != BLOCKS:
        return
    if all(one.attrs.get("window_size", 1) == 1 for one in model.walk()):
        lean = Lean(model)
        pipe.predict = lambda docs: lean(list(docs))
