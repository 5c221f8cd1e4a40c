"""The texts of `bench/texts`, read into the forms that fits and scores use.

python bench/hands.py FILE.txt > FILE.json    # a file of stories or histories as a scorer takes it
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TEXTS = Path(__file__).parent / "texts"
MESSAGE = re.compile(r"M (\d+) (\S+) ([^:()]+?) \((user|assistant|person)\): (.+)")
ISO = re.compile(r"\d{4}-\d\d-\d\d")


def hands(folder: str) -> dict[str, Path]:
    """Whose texts are kept in a folder, in an order that stays."""
    return {path.name.partition(".")[0]: path for path in sorted((TEXTS / folder).iterdir())}


def memories(path: Path) -> Iterator[tuple[list[tuple[str, str]], list[tuple[str, set[int], list[str]]]]]:
    """Small memories: who says what, and the questions with the messages that tell it and the answer's wordings."""
    for block in _blocks(path):
        said, asked = [], []
        for line in block.splitlines():
            mark, _, rest = line.partition(" ")
            if mark == "M":
                speaker, _, text = rest.partition(" ")[2].partition(": ")
                said.append((speaker, text))
            elif mark == "Q":
                question, gold, answer = (part.strip() for part in rest.split("=>"))
                asked.append((question, {int(n) for n in gold.split(",")}, answer.split("|")))
            elif mark == "U":
                asked.append((rest, set(), []))
        yield said, asked


def histories(path: Path) -> list[dict[str, Any]]:
    """Little histories."""
    if path.suffix == ".json":
        return list(json.loads(path.read_text("utf-8")))
    return [_history(block) for block in _blocks(path)]


def stories(path: Path) -> list[dict[str, Any]]:
    """Long stories."""
    if path.suffix == ".json":
        return list(json.loads(path.read_text("utf-8")))
    return [_story(block) for block in _blocks(path)]


def _blocks(path: Path) -> list[str]:
    return [block.strip() for block in re.split(r"^# ", path.read_text("utf-8"), flags=re.M)[1:]]


def _history(block: str) -> dict[str, Any]:
    head, *rest = [line for line in block.splitlines() if line.strip()]
    id_, expect, *category = head.split(maxsplit=2)
    said = []
    for line in rest:
        mark, _, told = line.partition(" ")
        if mark == "M":
            when, _, words = told.partition(" ")
            speaker, _, text = words.partition(": ")
            said.append({"text": text, "said_at": f"{when}:00", "speaker": speaker})
        elif mark == "Q":
            question, current, answer, *stale = (part.strip() for part in told.split("=>"))
    return {
        "id": id_, "category": "".join(category), "statements": said, "expect": expect, "question": question,
        "current": [int(n) for n in current.split(",")], "current_answer": answer, "stale_answer": "".join(stale),
    }  # fmt: skip


def _story(block: str) -> dict[str, Any]:
    head, *rest = block.splitlines()
    id_, _, user, about = (part.strip() for part in head.split("|", 3))
    messages, questions = [], []
    for line in rest:
        if found := MESSAGE.match(line):
            number, when, speaker, role, text = found.groups()
            when = when if when.count(":") == 2 else f"{when}:00"
            messages.append(
                {"id": f"m{int(number):02}", "session": when[:10], "said_at": when, "speaker": speaker,
                 "role": role, "text": text}
            )  # fmt: skip
        elif line.startswith("Q "):
            kind, question, gold, answers, stale, old = (part.strip() for part in line[2:].split("=>"))
            questions.append(_question(kind, question, gold, answers, stale, old))
        elif line.startswith("U "):
            questions.append(_question("unanswerable", line[2:].strip(), "", "unknown", "", ""))
    asked_at = dt.datetime.fromisoformat(messages[-1]["said_at"]) + dt.timedelta(days=2)
    for number, question in enumerate(questions, 1):
        question |= {"id": f"q{number:02}", "asked_at": asked_at.isoformat()}
    return {
        "id": id_,
        "about": about,
        "user": user,
        "people": [],
        "messages": messages,
        "questions": questions,
    }


def _question(kind: str, question: str, gold: str, answers: str, stale: str, old: str) -> dict[str, Any]:
    told = [wording.strip() for wording in answers.split("|") if wording.strip()]
    if kind == "when":  # a date stands first where it is told
        told.sort(key=lambda wording: not ISO.fullmatch(wording))
    return {
        "question": question, "kind": kind, "gold": _ids(gold), "answer": told[0], "accept": told[1:],
        "stale": _ids(stale), "stale_answer": old, "as_of": {}, "note": "",
        "first_person": bool(re.search(r"\b(?:I|my|we|our|me|us)\b", question)),
    }  # fmt: skip


def _ids(numbers: str) -> list[str]:
    return [f"m{int(number):02}" for number in numbers.split(",") if number.strip()]


def main() -> int:
    """Prints a file as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    found = stories(file) if "\nM 1 " in file.read_text("utf-8") else histories(file)
    json.dump(found, sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
