"""What a call costs does not grow with the store, nor from one change to the next."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "scale.py"


def test_no_call_got_dearer():
    """In a store of one person's facts no call sends more statements, costs more or grows more than is allowed."""
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
