"""Random histories must keep every law; `bench/soak.py` runs the long version."""

from pathlib import Path

from fuzzing import Fuzz, Ticks

from worldline.config import Config
from worldline.memory import Memory
from worldline.model import Predicate


def test_random_operations_keep_every_law(tmp_path: Path, engine: str) -> None:
    """Fifteen hundred random writes (fewer on a server) leave hashes, times, intervals, merges and indexes in order."""
    with Memory.open(
        tmp_path / "m.db", Config(durability="normal", embedder="none"), clock=Ticks()
    ) as memory:
        memory.register(Predicate("lives_in", functional=True))
        fuzz = Fuzz(memory, seed=1).run(
            1500 if engine == "file" else 300, every=250 if engine == "file" else 150
        )
    never = {operation.__name__ for operation in fuzz.operations} - set(fuzz.done)
    assert not never or engine != "file", (
        f"these operations never succeeded: {never}; {fuzz.reasons.most_common(20)}"
    )
