"""The trained parser: its files are checked, it is loaded late, and it reads every text by itself."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from worldline.errors import StoreError
from worldline.reading import parser
from worldline.reading.parser import OTHERWISE, VERSION, ParserDamaged, check

TEXTS = [
    "My sister Rosa moved from Berlin to Lisbon last month.",
    "The printer is on the third floor. It is broken.",
    "asdf qwer ))) 123",
    "",
    "我住在里斯本。 🙂",
]


AT_EXIT = """
import atexit, sys
atexit.register(lambda: print("loaded", sorted({"spacy", "thinc"} & set(sys.modules))))
"""


def installed() -> Path:
    """The folder of the pipeline that is loaded as data."""
    found = importlib.util.find_spec(OTHERWISE)
    assert found is not None, f"{OTHERWISE} is missing; make setup installs it"
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / f"{OTHERWISE}-{VERSION}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the pipeline's folder."""
    return shutil.copytree(installed(), tmp_path_factory.mktemp("pipeline") / "whole")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to be damaged, of links where that is enough."""
    return shutil.copytree(whole, tmp_path / "copy", copy_function=os.link)


def change(path: Path, content: bytes) -> None:
    """Writes a file anew, so that other links to it keep the old content."""
    path.unlink()
    path.write_bytes(content)


def test_the_installed_files_are_the_right_ones(whole: Path) -> None:
    """The folder as it was installed passes."""
    check(whole)


@pytest.mark.parametrize("name", ["parser/model", "config.cfg", "tokenizer", "vocab/strings.json"])
def test_a_changed_file_is_refused(folder: Path, name: str) -> None:
    """One byte more in any file is noticed, and the file is named."""
    change(folder / name, (folder / name).read_bytes() + b" ")

    with pytest.raises(ParserDamaged, match=f"{name} is missing or changed"):
        check(folder)


def test_one_flipped_bit_is_refused(folder: Path) -> None:
    """A file of the same length with other content is noticed."""
    path = folder / "tok2vec" / "model"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    change(path, bytes(content))

    with pytest.raises(ParserDamaged, match="tok2vec/model"):
        check(folder)


def test_a_missing_file_is_refused(folder: Path) -> None:
    """A file that is gone is noticed."""
    (folder / "meta.json").unlink()

    with pytest.raises(ParserDamaged, match=r"meta\.json is missing"):
        check(folder)


@pytest.mark.parametrize("name", ["more.py", "parser/model2", ".hidden", "new/empty"])
def test_an_additional_file_is_refused(folder: Path, name: str) -> None:
    """Nothing may lie beside the files of the table, at any depth."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("x = 1\n")

    with pytest.raises(ParserDamaged, match="does not belong there"):
        check(folder)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    """No files at all is a damaged parser, which is an error of the store."""
    with pytest.raises(ParserDamaged, match="pip install"):
        check(tmp_path)
    assert issubclass(ParserDamaged, StoreError)


@pytest.mark.parametrize(
    "program",
    [
        "import worldline",
        "from worldline.surfaces.cli import main; main(['--help'])",
        "from worldline import Config, Memory; m = Memory.open(':memory:', Config(embedder='none'));"
        " m.note('learning', 'a', 'b'); m.list()",
        "from worldline import Config, Memory; m = Memory.open(':memory:', Config(embedder='none'));"
        " m.note('learning', 'Lunch', 'with Bo, at noon'); assert m.recall('my lunch with Bo').hits",
    ],
    ids=["import", "help", "note", "recall"],
)
def test_spacy_is_not_imported_before_it_is_needed(program: str) -> None:
    """Importing the package, showing help, notes and looking for words that ask nothing leave spaCy alone."""
    done = subprocess.run(
        [sys.executable, "-c", f"{AT_EXIT}{program}"], capture_output=True, text=True, timeout=120, check=True
    )

    assert done.stdout.splitlines()[-1] == "loaded []"


def test_spacys_own_command_line_is_not_loaded_with_it() -> None:
    """The parser starts without the web clients that spaCy's shell needs; who uses that shell finds it as ever."""
    program = (
        "from worldline.reading import parser; import sys; assert parser.parse(['I live in Porto.'])[0]\n"
        "print(*sorted({'requests', 'weasel', 'typer', 'spacy.cli'} & set(sys.modules)))\n"
        "import spacy, spacy.cli; print(spacy.info(silent=True)['spacy_version'] == spacy.__version__)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert done.stdout.split("\n") == ["", "True", ""]


def test_none_of_the_pipelines_code_runs() -> None:
    """The re-publication is loaded as data: its package is never imported."""
    installed()
    ask = (
        "from worldline.reading import parser; assert parser.parse(['I live in Porto.'])[0];"
        f" import sys; print('{OTHERWISE}' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, timeout=120, check=True
    )

    assert done.stdout.strip() == "False"


def test_the_tokenizer_is_the_one_of_the_files() -> None:
    """Built once by ourselves, it has the rules that the files hold and cuts every special case as they say."""
    import spacy

    ours = parser._pipeline().tokenizer
    theirs = spacy.blank("en").tokenizer.from_disk(installed() / "tokenizer", exclude=["vocab"])
    theirs.infix_finditer, theirs.token_match = ours.infix_finditer, ours.token_match

    assert ours.rules == theirs.rules
    for case in ours.rules:
        text = f"so {case} or ({case})"
        assert [(t.text, t.norm_) for t in ours(text)] == [(t.text, t.norm_) for t in theirs(text)]


def test_the_reader_is_named() -> None:
    """What read a text can be told, and nothing is wrong with it."""
    assert parser.active() == f"spacy en_core_web_sm {VERSION}"
    assert parser.trouble() is None


def test_parsing_is_deterministic() -> None:
    """The same texts give the same trees again."""
    assert parser.parse(TEXTS) == parser.parse(TEXTS)


def test_texts_do_not_touch_each_other() -> None:
    """A text is parsed the same alone, among others and in another order."""
    together = parser.parse(TEXTS)

    assert together == [parser.parse([text])[0] for text in TEXTS]
    assert together == list(reversed(parser.parse(TEXTS[::-1])))


def test_nothing_is_parsed_as_nothing() -> None:
    """No texts, no trees; an empty text, no sentences."""
    assert parser.parse([]) == []
    assert parser.parse([""]) == [[]]


def test_words_stand_where_they_say() -> None:
    """Each word's characters are its text, and hyphens and codes stay in one piece."""
    text = "My sister-in-law's badge LT-0417 costs 3.50 euros at 9:30, write to a.b@c.example now."
    (sentences,) = parser.parse([text])
    words = [token for tokens in sentences for token in tokens]

    assert [text[t.begin : t.end] for t in words] == [t.text for t in words]
    assert {"sister-in-law", "LT-0417", "a.b@c.example"} <= {t.text for t in words}
    assert all(0 <= t.head < len(tokens) for tokens in sentences for t in tokens)


def test_threads_that_begin_at_once_all_read() -> None:
    """The parser is loaded once, whoever asks first, and nobody gets half of it."""
    code = (
        "from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "from worldline.reading.read import read\n"
        "with Pool(6) as pool:\n"
        "    found = list(pool.map(lambda _: len(read('I live in Porto.', 'Ana').claims), range(6)))\n"
        "print(found)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "[1, 1, 1, 1, 1, 1]", done.stderr
