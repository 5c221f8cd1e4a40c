"""What counts as a word, a name's key, a token and a passage."""

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clock import cpu
from worldline import text

ANY_TEXT = st.text(max_size=200) | st.text(
    alphabet=st.sampled_from("aZé’'.,19 我游泳ひカ한नमस्ते\u0301\u0e31\0\ud800😀ßİſⅣ²"), max_size=60
)


@pytest.fixture(scope="module")
def index():
    """A plain FTS5 table, as the store makes it, and its vocabulary."""
    db = apsw.Connection(":memory:")
    db.execute(
        "CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 0');"
        "CREATE VIRTUAL TABLE v USING fts5vocab(t, instance);"
    )
    return db


def test_inflections_meet():
    """Inflected, accented and irregular forms of a word give one token."""
    assert text.words("Swimming cafés went") == text.words("swims CAFE go")


def test_apostrophes_do_not_split():
    """A possessive is its noun, and a contraction is one word."""
    assert text.words("Melanie's don’t dogs'") == ["melani", "dont", "dog"]


@pytest.mark.parametrize(
    ("written", "token"),
    [("1,200", "1200"), ("3.5", "3p5"), ("7th", "7"), ("05", "5"), ("twelve", "12"), ("0", "0")],
)
def test_numbers_have_one_spelling(written, token):
    """Thousands commas, ordinals, leading zeros and number words are normalised."""
    assert text.words(written) == [token]


def test_unspaced_scripts_become_pairs():
    """A run of Chinese gives overlapping pairs, a lone character itself."""
    assert text.words("我喜欢 Python 的") == ["我喜", "喜欢", "python", "的"]


def test_other_languages():
    """The language decides the stemmer."""
    assert text.words("Häuser", "german") == text.words("hauses", "german")


def test_content_words_drop_stop_words():
    """Stop words are left out in every inflection that the tokeniser joins."""
    assert text.content_words("What did the dogs do to them?") == ["dog"]


@given(st.text(alphabet="aZ19 '.,-_%\n\x00\x1f", max_size=60))
@example("1,200 and 3.5, isn't it. Yes.")
@settings(deadline=None)
def test_words_between_signs_are_the_words(sample):
    """Where no sign stands inside a word, cutting at signs gives what the pattern of a word finds."""
    found = " ".join(text.indexed(word) for word in text._ASCII_WORD.findall(sample))

    assert text.indexed(sample) == found


@given(ANY_TEXT)
@example("\u0130 \u1e9e \ufb01 ǅ Ω ᾳ")
@settings(deadline=None)
def test_every_token_is_one_index_token(index, sample):
    """FTS5's built-in tokenizer keeps each of our tokens whole, in order."""
    tokens = text.words(sample)
    index.execute("DELETE FROM t")
    index.execute("INSERT INTO t VALUES (?)", (" ".join(tokens),))

    seen = [row[0] for row in index.execute("SELECT term FROM v ORDER BY offset")]

    assert len(tokens) == len(seen)
    for token in tokens:
        assert index.execute("SELECT count(*) FROM t WHERE t MATCH ?", (f'"{token}"',)).get == 1


@given(ANY_TEXT, ANY_TEXT)
@settings(deadline=None)
def test_words_of_lines_are_words_of_each(first, second):
    """Tokenising line by line gives the same tokens as tokenising the whole."""
    assert text.words(f"{first}\n{second}") == text.words(first) + text.words(second)


@given(ANY_TEXT)
def test_fold_is_stable(name):
    """Folding a folded name changes nothing."""
    assert text.fold(text.fold(name)) == text.fold(name)


def test_fold_joins_spellings():
    """Case, accents, punctuation and spacing do not distinguish names."""
    assert text.fold(" José  O'Brien-Smith, Jr. ") == text.fold("jose OBRIEN SMITH jr")


def test_fold_keeps_what_has_no_letters():
    """A name of punctuation alone still has a key."""
    assert text.fold("!!!") == "!!!"


@given(ANY_TEXT)
def test_estimate_counts_wide_and_narrow(sample):
    """CJK characters count one each and four others count one, rounded up."""
    wide = sum("\u4e00" <= c <= "\u9fff" or c in "ひカ한" for c in sample)
    if sample.isascii() or set(sample) <= set("aZ我游泳ひカ한 "):
        assert text.estimate_tokens(sample) == wide + -(-(len(sample) - wide) // 4)


@given(ANY_TEXT, st.integers(1, 40))
def test_passages_tile(sample, size):
    """Passages join up to the text, are never empty and never longer than asked."""
    spans = text.passages(sample, size)

    assert "".join(sample[a:b] for a, b in spans) == sample
    assert all(0 < b - a <= size for a, b in spans)


def test_passages_prefer_paragraphs():
    """A paragraph break inside the window is where the text is cut."""
    sample = "a" * 700 + "\n\n" + "b" * 700

    assert text.passages(sample) == [(0, 702), (702, 1402)]


def test_ten_megabytes_are_linear():
    """Ten megabytes are cut in well under a second of CPU."""

    def work() -> None:
        text.passages("word " * 2_000_000)
        text.passages("x" * 10_000_000)

    assert cpu(work) < 2
