"""A LangGraph agent that remembers across runs: what it learns in one process, it knows in the next.

The "model" here is four lines of Python, so that the example runs anywhere; put yours in its place.

    python examples/langgraph_agent.py
"""

import tempfile
from pathlib import Path
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from worldline import Config, Memory
from worldline.langgraph import WorldlineStore


class State(TypedDict):
    """What goes through the graph."""

    user: str
    said: str
    answer: str


def respond(state: State, store: BaseStore) -> dict[str, str]:
    """Writes down what is new, and answers from what is known."""
    namespace = ("users", state["user"], "preferences")
    if state["said"].startswith("I like "):
        store.put(
            namespace, "drink", {"likes": state["said"].removeprefix("I like ").rstrip(".")}, index=["likes"]
        )
        return {"answer": "Noted."}
    found = store.search(namespace, query=state["said"])
    return {"answer": found[0].value["likes"] if found else "I do not know."}


def run(path: Path, user: str, said: str) -> str:
    """One run: a store, a graph, an answer; everything is closed again."""
    with Memory.open(path, Config(embedder="none")) as memory:
        graph = (
            StateGraph(State).add_node("respond", respond).add_edge(START, "respond").add_edge("respond", END)
        )
        agent = graph.compile(store=WorldlineStore(memory))
        return str(agent.invoke({"user": user, "said": said, "answer": ""})["answer"])


def main() -> None:
    """Three runs on one file, and what the second one overwrote."""
    path = Path(tempfile.mkdtemp()) / "agent.db"
    print("run 1:", run(path, "ana", "I like green tea."))
    print("run 2:", run(path, "ana", "I like black tea."))
    print("run 3:", run(path, "ana", "Which tea?"))
    print("another user:", run(path, "bo", "Which tea?"))
    with Memory.open(path, Config(embedder="none")) as memory:
        values = WorldlineStore(memory).history(("users", "ana", "preferences"), "drink")
        print("kept:", " → ".join(dict.fromkeys(version["value"]["likes"] for version in values)))


if __name__ == "__main__":
    main()
