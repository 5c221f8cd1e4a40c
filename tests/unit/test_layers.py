"""The parser's first layers in few steps tell the same numbers as the library's."""

from __future__ import annotations

import numpy as np

from worldline.reading import layers, parser

TEXTS = (
    "Where does Ana live now?",
    "I moved to Porto last spring, and my sister Rosa works at Siemens.",
    "ok",
    "",
    "  two   spaces\n\nand 3,200 dollars – or €5.50!",
    "Zażółć gęślą jaźń, 我喜欢游泳 and x@y.example.",
)


def test_the_numbers_are_the_same_to_the_last_bit():
    """Alone and together, for words that are met for the first time and such as are kept."""
    pipeline = parser._pipeline()
    assert pipeline is not None, "the extra `english` is part of the tests' set-up"
    pipe = pipeline.get_pipe("tok2vec")
    lean, docs = layers.Lean(pipe.model), [pipeline.make_doc(text) for text in TEXTS]
    alone = [pipe.model.predict([doc])[0] for doc in docs if len(doc)]
    for _ in range(2):
        assert all(map(np.array_equal, alone, (lean([doc])[0] for doc in docs if len(doc))))
        assert all(map(np.array_equal, pipe.model.predict(docs), lean(docs)))
    assert [len(row) for row in lean(docs)] == [len(doc) for doc in docs]
    assert lean([docs[3]])[0].shape == (0, 96)


def test_the_pipeline_takes_the_few_steps(monkeypatch):
    """A model of another shape is left as it is."""
    pipeline = parser._pipeline()
    assert pipeline is not None, "the extra `english` is part of the tests' set-up"
    pipe = pipeline.get_pipe("tok2vec")
    assert "predict" in vars(pipe)

    monkeypatch.setattr(layers, "BLOCKS", 3)
    monkeypatch.delattr(pipe, "predict")
    layers.made_lean(pipeline)
    assert "predict" not in vars(pipe)


def test_few_words_are_kept(monkeypatch):
    """Where there are too many, all are made anew."""
    pipeline = parser._pipeline()
    assert pipeline is not None, "the extra `english` is part of the tests' set-up"
    monkeypatch.setattr(layers, "KEPT", 12)
    pipe = pipeline.get_pipe("tok2vec")
    lean = layers.Lean(pipe.model)
    for text in TEXTS:
        doc = pipeline.make_doc(text)
        if len(doc):
            assert np.array_equal(lean([doc])[0], pipe.model.predict([doc])[0])
            assert len(lean._words) <= max(12, len(doc))
