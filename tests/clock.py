"""CPU time by a clock that runs as fast as the machine: limits hold on a slow one and under load."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

from worldline.testing import reference

_USUAL = 0.0085
"""CPU seconds of `reference` on the machine for which the tests' limits were written."""


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of some work in this process, as the usual machine would count them."""
    return _scaled(work, time.process_time)


def children_cpu(work: Callable[[], object]) -> float:
    """The same of the processes that some work starts and waits for."""
    return _scaled(work, _children)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _scaled(work: Callable[[], object], clock: Callable[[], float]) -> float:
    before = reference(2)
    began = clock()
    work()
    took = clock() - began
    return took / max(1.0, max(before, reference(2)) / _USUAL)
