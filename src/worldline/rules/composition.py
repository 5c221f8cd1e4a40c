"""What a world means, as one vector: its children's vectors, pooled.

A world has two vectors. Its *content* vector is that of its own words (its summary, or its name and
text); its *effective* vector is composed of its children's effective vectors. A leaf has no children,
so its effective vector is its content vector. Both are unit vectors, and so is whatever is pooled.

Attention weighs a child by softmax(q·k/√d), with q the world's own content vector and k the child's.
That formula was made for vectors whose d components have variance one: there q·k is of the order of d,
and √d brings it back. Embeddings have length one instead, so |q·k| ≤ 1, and q·k/√d lies within ±.05
for d = 384: the softmax is flat, and attention is the mean under another name. So vectors are first
brought to the length √d that such a vector would have; then q·k/√d = √d·cos(q, k), at any length that
they come in. It decides nothing about which children a world has, nor where vectors are kept.

>>> import numpy as np
>>> children = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
>>> attention(np.array([1.0, 0.0]), children).round(2)
array([0.9 , 0.44])
>>> mean(children).round(2)
array([0.45, 0.89])
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Pooling: TypeAlias = Literal["mean", "attention"]
_TINY = 1e-12


def unit(vectors: Any) -> Floats:
    """Length one, each; what has no direction stays zero."""
    rows = np.asarray(vectors, np.float64)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), _TINY))


def mean(children: Any) -> Floats:
    """Every child counts the same, whatever its length."""
    return unit(unit(children).sum(axis=0))


def weights(content: Any, children: Any) -> Floats:
    """What each child counts: softmax(q·k/√d) over vectors of length √d."""
    keys = unit(children)
    raised = np.sqrt(keys.shape[1]) * (keys @ unit(content))
    shares = np.exp(raised - raised.max())
    return np.asarray(shares / shares.sum())


def attention(content: Any, children: Any) -> Floats:
    """Children count the more, the nearer they are to what the world says of itself."""
    return unit(weights(content, children) @ unit(children))


def effective(content: Any | None, children: Any, pooling: Pooling = "attention") -> Floats:
    """The vector of a world: composed of its children, or (a leaf) its own content.

    A world without words of its own has nothing to attend with: its children count alike. (Attending
    around their middle instead lets whatever is said everywhere drown what this world is about.)
    """
    if not len(children):
        if content is None:
            raise ValueError("a world without words and without children has no vector")
        return unit(content)
    if content is None or pooling == "mean":
        return mean(children)
    return attention(content, children)
