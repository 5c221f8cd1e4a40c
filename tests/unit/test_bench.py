"""The benchmark: files in, numbers out, through the product's own front door."""

import gzip
import json

import msgspec
import pytest
from click.testing import CliRunner

from worldline.bench import cache, fit, report, run
from worldline.bench.datasets import load
from worldline.bench.systems import Ranking
from worldline.surfaces.cli import main
from worldline.testing import HashEmbedder


def quiet(what, done, total):
    """Nobody looks."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def people(tmp_path):
    """A file of two named people, one of whose questions has no answer."""
    talk = {
        "speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a kitten called Miso."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "I bought a bike.", "blip_caption": "a red bike"},
        ],
        "session_2_date_time": "1:56 pm on 9 May, 2023",
        "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "We hiked to the lake and swam."}],
    }  # fmt: skip
    questions = [
        {"question": "What pet did Ana adopt?", "answer": "kitten", "evidence": ["D1:1"], "category": 4},
        {"question": "What colour is Ben's bike?", "answer": "red", "evidence": ["D1:2"], "category": 4},
        {"question": "What did Ana do outdoors?", "evidence": ["D2:1", "D1:1"], "category": 1},
        {"question": "Which zeppelin did Ben board?", "evidence": ["D1:2"], "category": 5},
    ]
    path = tmp_path / "talk.json.gz"
    path.write_bytes(
        gzip.compress(json.dumps([{"sample_id": "t", "conversation": talk, "qa": questions}]).encode())
    )
    return path


@pytest.fixture
def pooled(tmp_path):
    """A file whose questions may look at some sessions only."""
    turns = {"s1": "My cat is called Miso.", "s2": "My cat is called Tofu.", "s3": "I like tea."}
    sessions = {
        name: {
            "date": "2023/05/20 (Sat) 02:21",
            "turns": [{"role": "user", "content": text, "has_answer": True}],
        }
        for name, text in turns.items()
    }
    questions = [
        {
            "question_id": f"q{n}", "question_type": "x", "question": "What is my cat called?", "answer": "x",
            "question_date": "2023/06/20 (Tue) 02:21", "answer_session_ids": [f"s{n}"],
            "haystack_session_ids": [f"s{n}", "s3"],
        }
        for n in (1, 2)
    ]  # fmt: skip
    path = tmp_path / "pooled.json"
    path.write_text(json.dumps({"sessions": sessions, "questions": questions}))
    return path


def test_the_report_has_the_promised_shape(people):
    """Systems, levels, categories, intervals, times and p-values are all there."""
    made, rows = run.bench(run.Settings("locomo", "none"), [people], quiet)
    ours = made["systems"]["worldline"]

    assert set(made) == {"dataset", "files", "questions", "systems", "p_values", "settings"}
    assert len(made["files"]["talk.json.gz"]) == 64
    assert (made["questions"], len(rows)) == (4, 4)
    assert set(ours["turn"]) == {"any@1", "any@5", "any@10", "all@10", "any@50", "all@50", "share@50", "mrr"}
    assert set(ours["session"]) == {"any@5", "any@10", "all@10"}
    assert ours["by_category"]["multi_gold"]["questions"] == 1
    assert ours["turn"]["any@10"] == 1.0
    assert ours["ci95"]["turn"]["any@1"][0] <= ours["turn"]["any@1"] <= ours["ci95"]["turn"]["any@1"][1]
    assert 0.5 <= ours["abstention_auc"] <= 1.0
    assert "fts5" in made["p_values"]
    assert any("worldline" in line for line in report.table(made))


def test_a_caption_is_remembered_with_its_turn(people):
    """The colour that only an image's caption has is found."""
    _, rows = run.bench(run.Settings("locomo", "none"), [people], quiet)
    bike = next(row for row in rows if "bike" in row.question.text)

    assert bike.systems["worldline"].turns[0] == "D1:2"


def test_a_question_sees_its_own_sessions_only(pooled):
    """Scopes keep the other question's evidence out."""
    _, rows = run.bench(run.Settings("longmemeval", "none"), [pooled], quiet)

    for row in rows:
        allowed = {f"{session}/0" for session in row.question.sessions}
        for ranking in row.systems.values():
            assert set(ranking.turns) <= allowed
        assert row.systems["worldline"].turns[0] in row.question.gold


def test_vectors_are_made_once(tmp_path):
    """A second embedder over the same folder embeds nothing again, and gives the same vectors."""
    made = []
    for _ in range(2):
        inner = HashEmbedder()
        made.append((cache.CachedEmbedder(inner, tmp_path).embed(["a b", "c", "a b"]), inner.texts))

    assert made[0][1] == 2
    assert made[1][1] == 0
    assert (made[0][0] == made[1][0]).all()


def test_an_interrupted_run_goes_on(people, monkeypatch):
    """Questions that were finished are not asked again; a finished run leaves no journal."""
    asked = []
    original = run._asked

    def counting(name, question, *rest):
        asked.append(question.id)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return original(name, question, *rest)

    monkeypatch.setattr(run, "_asked", counting)
    with pytest.raises(KeyboardInterrupt):
        run.bench(run.Settings("locomo", "none"), [people], quiet)
    made, _ = run.bench(run.Settings("locomo", "none"), [people], quiet)

    assert made["questions"] == 4
    assert len(asked) == 5
    assert not list(cache.folder().glob("journal-*"))


def test_a_limit_spreads_over_all_questions(people):
    """Half of the questions are every second one."""
    talks = run.some(load("locomo", people), 2)

    assert [q.id for talk in talks for q in talk.questions] == ["t/0", "t/2"]


def test_the_shell_prints_a_table_and_writes_files(people, tmp_path):
    """`worldline bench` prints a table, writes report and rows, and says that nothing was judged."""
    out, rows = tmp_path / "r.json", tmp_path / "r.jsonl"
    args = [
        "bench",
        "locomo",
        str(people),
        "--embedder",
        "none",
        "--json",
        str(out),
        "--rows",
        str(rows),
        "--judge",
    ]
    done = CliRunner().invoke(main, args)

    assert done.exit_code == 0, done.output
    assert "any@10" in done.output
    assert "not measured" in done.output
    assert json.loads(out.read_bytes())["judge"] == {
        "measured": False, "reason": "not measured: no model endpoint is configured (setting `model`)"
    }  # fmt: skip
    assert len(rows.read_bytes().splitlines()) == 4
    assert (
        msgspec.json.decode(rows.read_bytes().splitlines()[0], type=report.ReportRow)
        .systems["worldline"]
        .turns
    )


def test_fit_needs_named_files(people):
    """`bench fit` says how its files are named."""
    done = CliRunner().invoke(main, ["bench", "fit", str(people)])

    assert done.exit_code == 2
    assert "DATASET=FILE" in done.output


def test_fit_prints_a_table(people):
    """`bench fit` cross-validates and prints every weight."""
    done = CliRunner().invoke(main, ["bench", "fit", f"locomo={people}", "--embedder", "none"])

    assert done.exit_code == 0, done.output
    assert '"session":' in done.output
    assert "# cross-validated locomo" in done.output


@pytest.fixture
def story(tmp_path):
    """A little story: two people and one question that can be answered, one that cannot."""
    said = [("m1", "Ana", "I adopted a kitten called Miso."), ("m2", "Ben", "I bought a red bike.")]
    told = {
        "id": "s",
        "messages": [
            {"id": id_, "session": "one", "speaker": who, "text": text, "said_at": f"2025-03-0{n}T10:00:00"}
            for n, (id_, who, text) in enumerate(said, 1)
        ],
        "questions": [
            {
                "question": "What pet does Ana have?",
                "gold": ["m1"],
                "instead": {"m1": ["m2"]},
                "answer": "kitten",
            },
            {"question": "How much was the bike?", "gold": [], "answer": "", "unanswerable": True},
        ],
    }
    path = tmp_path / "stories.json"
    path.write_text(json.dumps([told]))
    return path


def test_stories_are_read(story):
    """People stay people, what counts in place of the gold is gold, and what cannot be answered says so."""
    (talk,) = load("stories", story)

    assert [message.role for message in talk.messages] == ["people", "people"]
    assert [question.gold for question in talk.questions] == [("m1", "m2"), ()]
    assert [question.answerable for question in talk.questions] == [True, False]


def test_fit_leaves_whole_sets_out(people, story):
    """Several sets: every one is also ranked by weights from the others, and doubted by them."""
    files = [f"locomo={people}", f"stories={story}"]
    done = CliRunner().invoke(main, ["bench", "fit", *files, "--embedder", "none"])

    assert done.exit_code == 0, done.output
    assert "# from the other sets, locomo without vectors (3)" in done.output
    assert "# from the other sets, stories without vectors (1)" in done.output
    assert '"answered":' in done.output


def test_shares_weigh_data_sets():
    """A data set with no share does not move the weights."""
    import numpy as np

    up = [(np.array([[1.0], [0.0]]), np.array([True, False]))]
    down = [(np.array([[0.0], [1.0]]), np.array([True, False]))]

    assert fit.fit([up, down], [1.0, 0.0])[0] > 0.1
    assert abs(fit.fit([up, down])[0]) < 1e-6


def test_unanswerable_questions_count_for_abstention_only():
    """A question without an answer has no turn scores."""
    from worldline.bench.datasets import BenchQuestion

    row = report.ReportRow(
        "c", BenchQuestion("q", "?", "x", ("a",), answerable=False), {}, {"worldline": Ranking((), 1.0)}
    )

    assert report.scores(row, "worldline") == {}
