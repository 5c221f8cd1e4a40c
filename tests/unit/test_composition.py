"""How a world's vector is composed of its children's."""

from __future__ import annotations

import numpy as np
import pytest

from worldline.bench import composition as study
from worldline.consolidate import worlds


def near(a, b):
    """Whether two vectors are the same but for rounding."""
    return bool(np.allclose(a, b, atol=1e-9))


@pytest.fixture
def children():
    """A dozen vectors in all directions."""
    draw = np.random.Generator(np.random.PCG64(7))
    return worlds.unit(draw.standard_normal((12, 384)))


def test_a_leaf_is_its_content(children):
    """What contains nothing means what it says."""
    assert near(worlds.effective(3 * children[0], ()), children[0])


def test_whatever_is_pooled_has_length_one(children):
    """Both poolings give unit vectors, whatever the length of what goes in."""
    for pooling in ("mean", "attention"):
        pooled = worlds.effective(children[0], 17 * children, pooling)
        assert np.linalg.norm(pooled) == pytest.approx(1.0)


def test_mean_counts_children_alike(children):
    """A long vector does not count more than a short one."""
    longer = children * np.arange(1, 13)[:, None]
    assert near(worlds.mean(longer), worlds.mean(children))


def test_attention_is_the_softmax_of_scaled_products():
    """On vectors of length √d the weights are exactly softmax(q·k/√d)."""
    draw = np.random.Generator(np.random.PCG64(1))
    keys = worlds.unit(draw.standard_normal((5, 64))) * 8
    query = worlds.unit(draw.standard_normal(64)) * 8
    raised = np.exp(keys @ query / np.sqrt(64))
    assert near(worlds.weights(query, keys), raised / raised.sum())
    assert near(worlds.weights(query / 100, keys * 100), raised / raised.sum())


def test_attention_turns_to_what_the_world_says(children):
    """The children near the content outweigh many that are not."""
    content = worlds.unit(children[0] + 0.5 * children[1])
    shares = worlds.weights(content, children)
    assert shares[0] + shares[1] > 0.9
    assert worlds.attention(content, children) @ children[0] > worlds.mean(children) @ children[0]


def test_a_world_without_words_is_the_middle_of_its_children(children):
    """Nothing to attend with: every child counts alike."""
    assert near(worlds.effective(None, children), worlds.mean(children))


def test_the_order_of_children_does_not_matter(children):
    """Pooling is about a set."""
    turned = worlds.attention(children[3], children[::-1])
    assert near(turned, worlds.attention(children[3], children))


def test_a_world_of_nothing_has_no_vector():
    """Neither words nor children: there is nothing to compose, and that is said."""
    with pytest.raises(ValueError, match="no vector"):
        worlds.effective(None, ())


def test_what_has_no_direction_stays_zero():
    """A vector of zeros neither fails nor becomes something."""
    assert not worlds.mean(np.zeros((2, 8))).any()


def test_the_study_finds_worlds_by_attention_not_by_the_mean():
    """Three children of twenty carry the theme: attention finds the world, mean pooling does not."""
    made = study.bench(3)
    top = {name: row["top1"] for name, row in made["systems"].items()}
    assert made["reached"]
    assert top["attention"] >= 0.98
    assert max(top["mean"], top["flat"], top["content"]) < 0.95


def test_the_study_is_the_same_every_time():
    """The same seed, the same worlds and the same answers."""
    assert study.answered(study.Study(), 4) == study.answered(study.Study(), 4)
