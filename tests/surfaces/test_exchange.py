"""Importers and exporters: dates kept, nothing twice, bad records told, our own copy exact."""

import json
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from worldline import Config, Fact, Memory, Scope
from worldline.clock import instant, show
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.exchange import exporters, importers
from worldline.store.reindexing import TABLES
from worldline.surfaces.cli import main
from worldline.testing import FrozenClock

NOW = instant("2037-01-01")


@pytest.fixture
def memory() -> Any:
    """An empty memory, later than any file of today."""
    with Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW)) as opened:
        yield opened


def written(folder: Path, name: str, value: Any) -> Path:
    """A file of JSON, or of JSON Lines for a list of text."""
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def said(memory: Memory) -> list[tuple[str, str, str]]:
    """(when, who, what) of everything said, oldest first."""
    turns = memory.list("Turn", limit=1000).items
    return [(show(t.valid.start), t.name, t.content) for t in reversed(turns)]


def message(id_: str, role: str, text: Any, at: float | None, **more: Any) -> dict[str, Any]:
    """A message of ChatGPT's export."""
    content = {"content_type": "text", "parts": [text]}
    return {"id": id_, "author": {"role": role}, "create_time": at, "content": content, **more}


def chatgpt() -> list[dict[str, Any]]:
    """An export with a branch that was given up, a hidden message and a tool call."""
    nodes = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": {"message": message("a", "user", "I moved to Porto", 1735689600.5), "parent": "root"},
        "old": {"message": message("old", "assistant", "regenerated away", 1735689601.0), "parent": "a"},
        "b": {"message": message("b", "assistant", "How nice!", 1735689602.0), "parent": "a"},
        "t": {"message": message("t", "tool", "machinery", 1735689603.0), "parent": "b"},
        "h": {
            "message": message(
                "h", "user", "hidden", 1.0, metadata={"is_visually_hidden_from_conversation": True}
            ),
            "parent": "t",
        },
        "c": {"message": message("c", "user", "Yes, in March", None), "parent": "h"},
    }
    talk = {"id": "talk-1234567", "title": "Moving", "create_time": 1735689600.0, "current_node": "c"}
    return [{**talk, "mapping": nodes}, {"title": "broken", "mapping": 7}, "not a talk"]


# Conversations -------------------------------------------------------------------------------------


def test_chatgpt_export(memory: Memory, tmp_path: Path) -> None:
    """The active branch is stored with its own dates, broken conversations are told and skipped."""
    path = written(tmp_path, "conversations.json", chatgpt())

    report = memory.import_(path)

    assert report.format == "chatgpt"
    assert said(memory) == [
        ("2025-01-01T00:00:00.500000Z", "user", "I moved to Porto"),
        ("2025-01-01T00:00:02Z", "assistant", "How nice!"),
        ("2025-01-01T00:00:02.000001Z", "user", "Yes, in March"),
    ]
    assert report.left_out == {"messages of other branches": 1, "tool messages": 1, "hidden messages": 1}
    assert [bad.position for bad in report.skipped] == [
        "conversations.json, record 2", "conversations.json, record 3",
    ]  # fmt: skip
    assert memory.list("Session").items[0].name == "Moving (talk-123)"


def test_archives_and_folders(memory: Memory, tmp_path: Path) -> None:
    """The ZIP that an export comes in is read as it is, and so is the folder it is unpacked to."""
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("data/conversations.json", json.dumps(chatgpt()[:1]))
        archive.writestr("data/user.json", "{}")
    folder = tmp_path / "unpacked"
    folder.mkdir()
    written(folder, "conversations.json", chatgpt()[:1])

    first, second = memory.import_(tmp_path / "export.zip"), memory.import_(folder)

    assert (first.stored, first.same) == (3, 0)
    assert (second.stored, second.same) == (0, 3)


def test_claude_export(memory: Memory, tmp_path: Path) -> None:
    """Text blocks and attachments are kept, thinking and tools are not; a bad message loses only itself."""
    messages = [
        {
            "uuid": "m1", "sender": "human", "text": "old text", "created_at": "2026-01-05T10:00:00.123456Z",
            "content": [{"type": "text", "text": "Look at this"}],
            "attachments": [{"file_name": "a.txt", "extracted_content": "the attachment"}],
        },
        {"uuid": "m2", "sender": "martian", "text": "?", "created_at": "2026-01-05T10:00:01Z"},
        {
            "uuid": "m3", "sender": "assistant", "text": "", "created_at": "2026-01-05T10:00:02Z",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I see"}],
        },
        {"uuid": "m4", "sender": "human", "text": "only text", "created_at": "2026-01-05T10:00:03Z"},
    ]  # fmt: skip
    talk = {"uuid": "u-1", "name": "Files", "created_at": "2026-01-05T10:00:00Z", "chat_messages": messages}
    path = written(tmp_path, "conversations.json", [talk])

    report = memory.import_(path)

    assert report.format == "claude"
    assert [text for _, _, text in said(memory)] == [
        "Look at this\n\n[a.txt]\nthe attachment", "I see", "only text",
    ]  # fmt: skip
    assert said(memory)[0][:2] == ("2026-01-05T10:00:00.123456Z", "user")
    assert [bad.position for bad in report.skipped] == ["conversations.json, record 1, message 2"]


def test_claude_code_transcript(memory: Memory, tmp_path: Path) -> None:
    """Of a coding session, what the user typed and what was answered in words."""

    def line(id_: str, type_: str, content: Any, **more: Any) -> str:
        base = {"uuid": id_, "type": type_, "sessionId": "s1", "timestamp": "2026-02-01T08:00:00.000Z"}
        return json.dumps({**base, "message": {"role": type_, "content": content}, **more})

    lines = [
        json.dumps({"type": "summary", "summary": "x", "sessionId": "s1"}),
        line("1", "user", "Use tabs, please", cwd="/src/app"),
        line("2", "assistant", [{"type": "text", "text": "Tabs it is."}, {"type": "tool_use", "name": "x"}]),
        line("3", "user", [{"type": "tool_result", "content": "noise"}]),
        line("4", "user", "in a subagent", isSidechain=True),
        line("5", "user", "<command-name>/clear</command-name>"),
    ]
    path = written(tmp_path, "t.jsonl", "\n".join(lines))

    assert memory.import_(path).stored == 2
    assert [text for _, _, text in said(memory)] == ["Use tabs, please", "Tabs it is."]
    assert memory.list("Turn", metadata={"cwd": "/src/app"}).items


def test_plain_chat(memory: Memory, tmp_path: Path) -> None:
    """Lines of chat in several dialects; a bad line is told with its number and the others go on."""
    lines = [
        '{"role": "user", "content": "hello", "timestamp": 1767225600, "session": "monday"}',
        '{"speaker": "Ana", "text": "hi", "date": "2026-01-02"}',
        "{broken",
        '{"role": "user"}',
        '{"messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]}',
        '{"role": "user", "content": "hello", "timestamp": 1767225600, "session": "monday"}',
    ]
    path = written(tmp_path, "chat.jsonl", "\n".join(lines))

    report = memory.import_(path)
    again = memory.import_(path, "chat")
    path.write_text("\n".join([*lines, '{"role": "user", "content": "more"}']), "utf-8")
    grown = memory.import_(path, "chat")

    assert (report.format, report.stored) == ("chat", 5)
    assert [bad.position for bad in report.skipped] == ["chat.jsonl, line 3", "chat.jsonl, line 4"]
    assert (again.stored, again.same) == (0, 5)
    assert (grown.stored, grown.same) == (1, 5)
    assert ("2026-01-02T00:00:00Z", "Ana", "hi") in said(memory)


def test_one_unstorable_message_loses_only_itself(memory: Memory, tmp_path: Path) -> None:
    """A NUL in one message of a batch is told with its position; its neighbours are stored."""
    lines = [json.dumps({"role": "user", "content": text}) for text in ("one", "tw\x00o", "three")]

    report = memory.import_(written(tmp_path, "chat.jsonl", "\n".join(lines)))

    assert report.stored == 2
    assert [bad.position for bad in report.skipped] == ["chat.jsonl, line 2"]
    assert "NUL" in report.skipped[0].reason


# Notes and facts -----------------------------------------------------------------------------------


def test_mem0(memory: Memory, tmp_path: Path) -> None:
    """A memory of mem0 holds from its own date, belongs to its owner, and is amended when it changed."""
    item = {
        "id": "m-1", "memory": "Ana works at TechCorp", "user_id": "ana", "metadata": {"kind": "job"},
        "created_at": "2025-07-20T01:30:36.275141-07:00", "updated_at": None, "categories": ["work"],
    }  # fmt: skip
    first = memory.import_(written(tmp_path, "m.json", {"results": [item, {"id": "m-2", "memory": "  "}]}))
    newer = {**item, "memory": "Ana works at Initech", "updated_at": "2026-01-01T00:00:00Z"}
    second = memory.import_(written(tmp_path, "m.json", {"results": [newer]}))
    third = memory.import_(tmp_path / "m.json")

    (node,) = memory.scoped(user="ana").list("context").items
    assert (first.format, first.stored, len(first.skipped)) == ("mem0", 1, 1)
    assert (second.stored, third.stored, third.same) == (1, 0, 1)
    assert node.content == "Ana works at Initech"
    assert node.metadata["kind"] == "job"
    assert memory.at("2025-08-01").get(node).content == "Ana works at TechCorp"
    assert memory.scoped(user="bo").list("context").items == ()


def test_the_graph_of_mem0_becomes_facts(memory: Memory, tmp_path: Path) -> None:
    """Relations beside the results are facts of their owner; one without an end is told."""
    relations = [
        {"source": "ana", "relationship": "works_at", "destination": "initech", "user_id": "ana"},
        {"source": "ana", "relationship": "knows", "target": "bo", "user_id": "ana"},
        {"source": "ana", "relationship": "likes"},
    ]
    results = [{"id": "m-1", "memory": "Ana works at Initech", "user_id": "ana"}]
    path = written(tmp_path, "m.json", {"results": results, "relations": relations})
    report, again = memory.import_(path), memory.import_(path)
    facts = {node.content for node in memory.scoped(user="ana").list("Fact").items}

    assert {"ana works at initech", "ana knows bo"} <= facts
    assert memory.scoped(user="bo").list("Fact").items == ()
    assert [bad.position for bad in report.skipped] == ["m.json, record 4"]
    assert (report.stored, again.stored) == (3, 0)


def test_a_vault_goes_out_and_comes_back(memory: Memory, tmp_path: Path) -> None:
    """One file a note with its links; an edit amends that very note, a new file and a new link are added."""
    tea = memory.note("context", "Green tea", "Steep for three minutes.", valid_from="2026-01-05")
    pot = memory.note("reference", "The pot", "Cast iron.", valid_from="2026-01-05")
    memory.link(tea, "relates_to", pot)
    vault = tmp_path / "vault"
    assert memory.export(vault, "markdown") == 2
    text = (vault / "Green tea.md").read_text("utf-8")
    assert text.startswith(f"---\nid: {tea.id}\ntype: context\n")
    assert "- relates_to [[The pot]]" in text
    assert memory.import_(vault, "markdown").stored == 0

    (vault / "Green tea.md").write_text(text.replace("three minutes.", "two minutes."), "utf-8")
    written(vault, "Cups.md", "# Cups\n\nBeside [[The pot|it]], and [[nowhere]].")
    report = memory.import_(vault, "markdown")

    assert (report.stored, report.left_out) == (3, {"links to notes that are not there": 1})
    assert memory.get(tea).content == "Steep for two minutes."
    assert "amended" in [version.change for version in memory.history(tea)]
    around = memory.walk(pot, "relates_to").nodes
    assert {node.name for node in around} == {"The pot", "Green tea", "Cups"}
    memory.retire(pot)
    memory.export(vault, "markdown")
    assert sorted(path.name for path in vault.iterdir()) == ["Cups.md", "Green tea.md"]


def test_words_at_the_end_of_a_vaults_file_are_kept(memory: Memory, tmp_path: Path) -> None:
    """What somebody writes below the list of links belongs to the note, with the links in it."""
    tea = memory.note("context", "Green tea", "Steep for three minutes.", valid_from="2026-01-05")
    pot = memory.note("reference", "The pot", "Cast iron.", valid_from="2026-01-05")
    memory.link(tea, "relates_to", pot)
    vault = tmp_path / "vault"
    memory.export(vault, "markdown")
    path = vault / "Green tea.md"
    path.write_text(path.read_text("utf-8") + "\nNever boil it.\n- see [[Green tea]]\n", "utf-8")

    assert memory.import_(vault, "markdown").stored == 1

    assert memory.get(tea).content == "Steep for three minutes.\n\nNever boil it.\n- see [[Green tea]]"
    assert {node.name for node in memory.walk(tea, "relates_to").nodes} == {"Green tea", "The pot"}
    memory.export(vault, "markdown")
    assert memory.import_(vault, "markdown").stored == 0


def test_records_that_cannot_be_read_are_told_in_plain_words(memory: Memory, tmp_path: Path) -> None:
    """Neither a list where a message should be nor a file in another encoding shows a message of Python's."""
    written(tmp_path, "chat.jsonl", '[1]\n{"role": "user", "content": "hello"}\n')
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_bytes(b"\xff\xfe")
    told = [
        *memory.import_(tmp_path / "chat.jsonl", "chat").skipped,
        *memory.import_(tmp_path / "notes", "markdown").skipped,
    ]

    assert [bad.reason for bad in told] == ["it is not of this format", "it is not UTF-8 text (byte 0)"]


def test_a_link_taken_out_of_a_vault_is_over(memory: Memory, tmp_path: Path) -> None:
    """It ends at the import; a link that the file could not know of stays, and one to a note that is not shown."""
    tea, pot, cup, mat, jar = (
        memory.note("context", name, f"The {name}.") for name in ("tea", "pot", "cup", "mat", "jar")
    )
    for other in (pot, cup, jar):
        memory.link(tea, "relates_to", other)
    vault = tmp_path / "vault"
    memory.export(vault, "markdown")
    last = memory.link(tea, "relates_to", mat)
    (vault / "jar.md").unlink()
    path = vault / "tea.md"
    text = path.read_text("utf-8").replace("- relates_to [[pot]]\n", "").replace("- relates_to [[jar]]\n", "")
    path.write_text(text, "utf-8")

    assert memory.import_(vault, "markdown", dry_run=True).stored == 1
    memory.import_(vault, "markdown")

    assert {e.dst for e in memory.walk(tea, "relates_to", way="out").edges} == {cup.id, mat.id, jar.id}
    assert len(memory.at(known=last.known_at).walk(tea, "relates_to", way="out").edges) == 4
    assert memory.import_(vault, "markdown").stored == 0


def test_server_memory(memory: Memory, tmp_path: Path) -> None:
    """Observations become notes, relations become facts, and bad lines are skipped."""
    lines = [
        {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["likes tea", 7]},
        {"type": "relation", "from": "Ana", "to": "Porto", "relationType": "lives_in"},
        {"type": "planet", "name": "Mars"},
    ]
    path = written(tmp_path, "memory.jsonl", "\n".join(map(json.dumps, lines)))

    report, again = memory.import_(path), memory.import_(path)

    assert report.format == "server-memory"
    assert [node.content for node in memory.list("context").items] == ["likes tea"]
    assert {n.content for n in memory.list("Fact").items} == {"Ana lives in Porto", "Ana is a person"}
    assert [bad.position for bad in report.skipped] == [
        "memory.jsonl, line 1, observation 2", "memory.jsonl, line 3",
    ]  # fmt: skip
    assert (again.stored, again.same) == (0, 3)


def test_markdown_folder(memory: Memory, tmp_path: Path) -> None:
    """Each file is a dated note; a changed file is a new version; hidden files are left alone."""
    folder = tmp_path / "notes"
    (folder / ".git").mkdir(parents=True)
    written(folder, "tea.md", "---\ntitle: Tea\ndate: 2026-01-05\n---\nGreen.\n")
    written(folder, "coffee.md", "# Coffee, black\n\nStrong.")
    written(folder / ".git", "secret.md", "no")
    (folder / "bad.md").write_bytes(b"\xff\xfe")

    report = memory.import_(folder)
    written(folder, "tea.md", "---\ntitle: Tea\ndate: 2026-01-05\n---\nBlack.\n")
    again = memory.import_(folder, "markdown")

    notes = {node.name: node for node in memory.list("reference").items}
    assert (report.format, report.stored, [b.position for b in report.skipped]) == ("markdown", 2, ["bad.md"])
    assert (again.stored, again.same) == (1, 1)
    assert (notes["Tea"].content, notes["Coffee, black"].metadata["path"]) == ("Black.", "coffee.md")
    assert memory.at("2026-01-06").get(notes["Tea"]).content == "Green."


def test_dry_run_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    """A dry run counts what would be stored, and leaves the memory as it was."""
    path = written(tmp_path, "conversations.json", chatgpt())
    before = memory.hash() if memory.stats()["changesets"] else ""

    report = memory.import_(path, dry_run=True)

    assert (report.stored, report.dry_run) == (3, True)
    assert memory.list("Turn").items == ()
    assert before == ""


def test_progress_is_told(memory: Memory, tmp_path: Path) -> None:
    """Long work can say how far it has come."""
    told: list[tuple[str, int]] = []

    memory.import_(
        written(tmp_path, "conversations.json", chatgpt()), progress=lambda *step: told.append(step)
    )

    assert told[-1] == ("import", 8)


def test_what_cannot_be_read_is_an_error(memory: Memory, tmp_path: Path) -> None:
    """A missing file, an unknown format, and a file of no known shape say what to do."""
    with pytest.raises(NotFound, match="no file or folder"):
        memory.import_(tmp_path / "nowhere.json")
    with pytest.raises(InvalidInput, match="chatgpt"):
        memory.import_(tmp_path, "msn")
    with pytest.raises(InvalidInput, match="cannot tell the format"):
        memory.import_(written(tmp_path, "x.json", [{"a": 1}]))
    with pytest.raises(InvalidInput, match="is not JSON"):
        memory.import_(written(tmp_path, "y.json", "[{"), "chatgpt")


def test_large_conversations_are_several_changesets(memory: Memory, tmp_path: Path) -> None:
    """A thousand messages are stored in batches, in order, and none is lost between two of them."""
    lines = [json.dumps({"role": "user", "content": f"message {n}", "session": "s"}) for n in range(450)]

    report = memory.import_(written(tmp_path, "chat.jsonl", "\n".join(lines)))

    assert report.stored == 450
    assert len(memory.list("Turn", limit=1000).items) == 450
    assert importers.BATCH < 450


# Our own copy --------------------------------------------------------------------------------------


def lived() -> Memory:
    """A memory with amended, corrected, retired, moved, merged, shared and quarantined things in it."""
    clock = FrozenClock(instant("2026-09-01"))
    memory = Memory.open(":memory:", Config(embedder="none"), clock=clock)
    step = lambda: clock.advance(1_000_000)  # noqa: E731
    contract = memory.note("context", "Acme", "silver", valid_from="2026-01-01", metadata={"a": [1]})
    step()
    memory.amend(contract, "gold", valid_from="2026-03-01")
    step()
    project, other = memory.note("project", "P"), memory.note("project", "Q")
    step()
    inner = memory.enter(project).note("learning", "L", "x", dated="2026-02-02")
    step()
    memory.correct(inner, "y", reason="misread")
    memory.retire(memory.edge(project, "contains", inner))
    step()
    memory.link(other, "contains", inner)
    memory.link(project, "relates_to", other, metadata={"w": 1})
    memory.remember(
        "I moved to Porto.", speaker="Ana", session="s1", said_at="2026-02-01T10:00+01:00",
        facts=[Fact("Ana", "lives_in", "Porto")], external_id="e1",
    )  # fmt: skip
    memory.remember("An undated word", speaker="Ana")
    step()
    memory.fact(Fact("Ana", "age", literal=42, confidence=0.2))
    memory.scoped(user="u").shared_with(Scope(agent="g")).note("user", "tea", "likes")
    proposal = memory.link(memory.note("Entity", "Bob"), "same_as", memory.note("Entity", "Robert"))
    step()
    memory.accept_merge(proposal.proposals[0])
    memory.retire(contract, "2026-06-01", reason="ended")
    return memory


def everything(memory: Memory) -> list[Any]:
    """All that is visible or ever was, without this store's own times and numbers."""
    items = [
        node
        for type_ in (None, "Turn", "Fact", "Session")
        for node in memory.list(type_, include_superseded=True, limit=1000).items
    ]
    return sorted(
        (n.id, n.lineage, n.type, n.name, n.content, n.valid, n.dated or 0, n.world or "",
         str(n.metadata), n.status, n.confidence or 0)
        for n in items
    )  # fmt: skip


def test_own_copy_is_exact(tmp_path: Path) -> None:
    """Exported and put back: same contents, ids, intervals, worlds, histories; even the same hashes."""
    origin = lived()
    origin.export(tmp_path / "copy.jsonl")
    copy = Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW))

    report = copy.import_(tmp_path / "copy.jsonl")

    assert report.skipped == ()
    assert copy.verify().ok
    assert everything(copy) == everything(origin)
    assert copy.hash() == origin.hash()
    assert [hash_ for _, hash_ in copy.worlds()] == [hash_ for _, hash_ in origin.worlds()]
    for node in origin.list(limit=1000).items:
        assert [v.change for v in copy.history(node.id)] == [v.change for v in origin.history(node.id)]
    assert [p.status for p in copy.merges(None)] == [p.status for p in origin.merges(None)]
    assert [n.name for n in copy.scoped(agent="g").list().items] == ["tea"]
    assert copy.recall("Where does Ana live?").hits[0].node.content == "I moved to Porto."


def test_own_copy_keeps_both_clocks(tmp_path: Path) -> None:
    """An exact copy knew everything when its origin did, row by row, and its log ends in the same head."""
    origin = lived()
    origin.pin(_named(origin, "Acme"))
    origin.export(tmp_path / "copy.jsonl")
    copy = Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW))
    copy.import_(tmp_path / "copy.jsonl")

    acme = next(v for v in origin.history(_named(origin, "Acme")))
    known = acme.node.known.start
    assert known < NOW
    assert copy.history(acme.node.id) == origin.history(acme.node.id)
    assert copy.at("2026-05-01", known).get(acme.node.id).content == "silver"
    assert copy.at("2026-05-01").get(acme.node.id).content == "gold"
    assert copy.handle.tenant_row() == origin.handle.tenant_row()
    for table, columns in TABLES.items():
        told = "SELECT {} FROM {} ORDER BY 1, 2".format(", ".join(f'"{column}"' for column in columns), table)
        assert copy.handle.store.query(told) == origin.handle.store.query(told), table
    assert copy.verify() == origin.verify()
    later = copy.note("context", "later")
    assert later.known_at > origin.handle.tenant_row()[3]
    assert copy.verify().ok


def test_a_file_of_the_former_form_is_still_read(tmp_path: Path) -> None:
    """Lines by ids, as whole memories were exported once, are put back with the known times of the new store."""
    origin = lived()
    told = origin.handle.read(lambda view: [json.dumps(line) for line in exporters.told_lines(view)])
    path = written(tmp_path, "old.jsonl", "\n".join(told))
    copy = Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW))

    assert copy.import_(path).skipped == ()
    acme = next(v for v in copy.history(_named(copy, "Acme")))
    assert acme.node.known.start >= NOW
    assert [show(o.known.start) for o in acme.origins] == ["2026-09-01T00:00:00.000002Z"]
    assert acme.origins[0].store == origin.hash()
    assert everything(copy) == everything(origin)
    assert copy.verify().ok


def test_a_copy_in_a_file_with_other_tenants_is_put_back_by_ids(tmp_path: Path) -> None:
    """Where row numbers are taken, or the tenant has another name, contents and history still come over."""
    origin = lived()
    origin.export(tmp_path / "copy.jsonl")
    with Memory.open(tmp_path / "shared.db", Config(embedder="none"), "somebody") as other:
        other.note("context", "theirs")
    for name in ("default", "another"):
        with Memory.open(tmp_path / "shared.db", Config(embedder="none"), name) as copy:
            assert copy.import_(tmp_path / "copy.jsonl").skipped == ()
            assert everything(copy) == everything(origin)
            assert copy.verify().ok


def _named(memory: Memory, name: str) -> str:
    items = memory.list(include_superseded=True, limit=1000).items
    return next(node.id for node in items if node.name == name)


def test_own_copy_again_changes_nothing(tmp_path: Path) -> None:
    """The same copy twice is one; sending an old event again is recognised; a full store absorbs it."""
    lived().export(tmp_path / "copy.jsonl")
    copy = Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW))
    copy.import_(tmp_path / "copy.jsonl")
    before = copy.hash()

    again = copy.import_(tmp_path / "copy.jsonl")
    copy.remember("I moved to Porto.", speaker="Ana", session="s1", external_id="e1",
                  said_at="2026-02-01T10:00+01:00")  # fmt: skip
    copy.remember("An undated word", speaker="Ana")

    assert (again.stored, again.same > 0, copy.hash()) == (0, True, before)
    with Memory.open(":memory:", Config(embedder="none")) as full:
        full.note("context", "already", "here")
        absorbed = full.import_(tmp_path / "copy.jsonl")
        assert (absorbed.stored, absorbed.same, full.verify().ok) == (again.same, 0, True)
        assert not full.import_(tmp_path / "copy.jsonl").stored


def test_a_copy_keeps_scopes_apart(tmp_path: Path) -> None:
    """The same words in two scopes are found from both, each with its own metadata, after a copy."""
    origin = Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW))
    for user in ("ana", "bo"):
        origin.scoped(user=user).note("context", "Acme", "the gold tier", metadata={"by": user})
    origin.export(tmp_path / "all.jsonl")
    origin.scoped(user="ana").export(tmp_path / "ana.jsonl")
    copy = Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW))
    copy.import_(tmp_path / "all.jsonl")

    for user in ("ana", "bo"):
        (hit,) = copy.scoped(user=user).recall("gold tier").hits
        assert hit.node.metadata == {"by": user}
    assert copy.verify().ok
    assert '"bo"' not in (tmp_path / "ana.jsonl").read_text("utf-8")


def test_a_changed_line_is_noticed(tmp_path: Path) -> None:
    """A line whose contents do not fit its id is skipped with its position, and the rest is put back."""
    lived().export(tmp_path / "copy.jsonl")
    text = (tmp_path / "copy.jsonl").read_text("utf-8")
    (tmp_path / "copy.jsonl").write_text(
        text.replace('"content":"likes"', '"content":"hates"') + "{\n", "utf-8"
    )
    copy = Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(NOW))

    report = copy.import_(tmp_path / "copy.jsonl")

    assert any("not what its id was made from" in bad.reason for bad in report.skipped)
    assert any("not JSON" in bad.reason for bad in report.skipped)
    assert "tea" not in {node.name for node in copy.list(limit=1000).items}
    assert _named(copy, "Acme")
    assert copy.verify().ok


def test_a_scoped_export_tells_nothing_else(tmp_path: Path) -> None:
    """An export through a scoped handle has that scope's memories and nobody else's."""
    lived().scoped(agent="g").export(tmp_path / "one.jsonl")

    lines = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text("utf-8").splitlines()]
    names = {line["name"] for line in lines if line["kind"] == "node" and line["type"] != "Scope"}
    assert names == {"tea"}


def test_markdown_and_graphml(tmp_path: Path) -> None:
    """Markdown reads well, GraphML is valid XML with an edge for each visible one, whatever the text."""
    memory = lived()
    memory.note("context", "odd <name> & \x0b", 'a "quoted" ]]> \x1f text')

    memory.export(tmp_path / "m.md", "markdown")
    count = memory.export(tmp_path / "m.graphml", "graphml")

    page = (tmp_path / "m.md").read_text("utf-8")
    assert "## project" in page
    assert "- 2026-02-01T10:00:00+01:00 **Ana**: I moved to Porto." in page
    root = ElementTree.parse(tmp_path / "m.graphml").getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = [node.get("id") for node in root.iter(f"{space}node")]
    ends = {edge.get(end) for edge in root.iter(f"{space}edge") for end in ("source", "target")}
    assert len(nodes) == count == len(set(nodes))
    assert ends
    assert ends <= set(nodes)


def test_an_earlier_moment_is_shown_or_refused(tmp_path: Path) -> None:
    """Markdown and GraphML tell what was known then; JSON Lines hold all of history, so they tell no moment's."""
    clock = FrozenClock("2026-01-01")
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        memory.remember("I live in Porto.", speaker="Ana")
        tier = memory.note("context", "tier", "silver")
        clock.set("2026-03-01")
        memory.amend(tier, "gold")
        memory.remember("I moved to Rome.", speaker="Ana")
        for then in (memory.at(as_of="2026-02-01"), memory.at(known="2026-02-01")):
            for format in ("markdown", "graphml"):
                then.export(tmp_path / "then.txt", format)
                text = (tmp_path / "then.txt").read_text("utf-8")
                assert [word in text for word in ("Porto", "silver", "Rome", "gold", "until")] == [
                    True, True, False, False, False,
                ]  # fmt: skip
            with pytest.raises(Refused, match="whole history"):
                then.export(tmp_path / "then.jsonl")
    assert not (tmp_path / "then.jsonl").exists()


def test_export_refuses_nonsense(tmp_path: Path) -> None:
    """The store itself is never overwritten, and an unknown format is named."""
    with Memory.open(tmp_path / "me.db", Config(embedder="none")) as memory:
        memory.note("context", "a")
        with pytest.raises(Refused, match="store itself"):
            memory.export(tmp_path / "me.db")
        with pytest.raises(InvalidInput, match="graphml"):
            memory.export(tmp_path / "x", "docx")
    assert not list(tmp_path.glob("*.part"))
    assert set(exporters.FORMATS) == {"jsonl", "markdown", "graphml"}


# The shell -----------------------------------------------------------------------------------------


def run(db: Path, *args: str, code: int = 0) -> str:
    """Runs a command line and gives what it printed."""
    result = CliRunner(env={"WORLDLINE_DB": str(db), "WORLDLINE_EMBEDDER": "none"}).invoke(main, list(args))
    assert result.exit_code == code, result.output
    return result.output


def test_import_and_export_from_the_shell(tmp_path: Path) -> None:
    """`worldline import` tells what it did and skipped; `export` writes a file once."""
    path = written(tmp_path, "conversations.json", chatgpt())

    told = run(tmp_path / "a.db", "import", "auto", str(path))
    report = json.loads(run(tmp_path / "a.db", "import", "chatgpt", str(path), "--json"))
    run(tmp_path / "a.db", "export", str(tmp_path / "out.jsonl"))
    refused = run(tmp_path / "a.db", "export", str(tmp_path / "out.jsonl"), code=1)
    copied = run(tmp_path / "b.db", "import", "auto", str(tmp_path / "out.jsonl"))

    assert told.startswith("chatgpt: 3 stored, 0 were here already, 2 skipped\n  skipped conversations.json")
    assert (report["stored"], report["same"], len(report["skipped"])) == (0, 3, 2)
    assert "exists already" in refused
    assert copied.startswith("worldline: ")


def test_ask_prints_the_evidence(tmp_path: Path) -> None:
    """Without a model, `ask` is recall with a budget."""
    run(tmp_path / "a.db", "note", "context", "Acme contract", "tier: gold")

    shown = run(tmp_path / "a.db", "ask", "Which tier has the Acme contract?")

    assert "Acme contract: tier: gold" in shown
    assert "tokens)" in run(
        tmp_path / "a.db", "ask", "Which tier has the Acme contract?", "--max-tokens", "100"
    )


def test_pins_and_stages_are_exported_and_come_back(tmp_path):
    """An exact copy still knows what was pinned and how far facts have come, and why."""
    with Memory.open(tmp_path / "a.db") as memory:
        pinned = memory.note("learning", "keep this", "for ever").id
        memory.pin(pinned, "it matters")
        memory.unpin(memory.pin(memory.note("learning", "not this").id).id)
        for day in ("mon", "tue", "wed"):
            memory.remember(f"Tea, {day}", session=day, speaker="ana", facts=[Fact("Ana", "likes", "tea")])
        memory.consolidate()
        fact = next(n.id for n in memory.list("Fact").items if n.content == "Ana likes tea")
        told = [version.change for version in memory.history(fact)]
        memory.export(tmp_path / "a.jsonl")
    with Memory.open(tmp_path / "b.db") as copy:
        copy.import_(tmp_path / "a.jsonl")

        assert [version.change for version in copy.history(fact)] == told == ["put", "crystal"]
        assert not copy.pin(pinned).changed
        assert copy.verify().ok
