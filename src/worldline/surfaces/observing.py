"""What a server tells its operator: counts for a scraper, and a line for each request.

Neither holds anything of a memory: routes are named by their pattern, never by their path, and an
error by its type and place, never by its words.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from typing import Any, TextIO

import orjson

_BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)


class Observer:
    """Counts requests; writes a JSON line for each where there is a log."""

    def __init__(self, log: TextIO | None = None) -> None:
        self._log = log
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0
        self.under_way = 0

    def answered(self, method: str, route: str, status: int, seconds: float, **more: Any) -> None:
        """A request is over."""
        self._requests[method, route, status] += 1
        self._seconds += seconds
        for bound in _BUCKETS:
            self._within[bound] += seconds <= bound
        self._line("request", method=method, route=route, status=status, ms=round(seconds * 1000, 1), **more)

    def failed(self, error: BaseException) -> None:
        """A fault of ours: its type and where it happened. It goes to standard error in any case."""
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{frame.filename.rpartition('worldline')[2]}:{frame.lineno}" for frame in frames[-6:]]
        self._line("failure", self._log or sys.stderr, error=type(error).__name__, at=places)

    def _line(self, event: str, log: TextIO | None = None, **fields: Any) -> None:
        log = log or self._log
        if log is not None:
            value = {"time": round(time.time(), 3), "event": event, **fields}
            log.write(orjson.dumps(value).decode() + "\n")
            log.flush()

    def metrics(self, **gauges: float) -> str:
        """Everything counted, in Prometheus' text format."""
        lines = ["# TYPE worldline_requests_total counter"]
        lines += [
            f'worldline_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
            for (method, route, status), count in sorted(self._requests.items())
        ]
        total = sum(self._requests.values())
        lines.append("# TYPE worldline_request_seconds histogram")
        lines += [f'worldline_request_seconds_bucket{{le="{b}"}} {self._within[b]}' for b in _BUCKETS]
        lines += [
            f'worldline_request_seconds_bucket{{le="+Inf"}} {total}',
            f"worldline_request_seconds_sum {self._seconds:.6f}",
            f"worldline_request_seconds_count {total}",
        ]
        for name, value in {"requests_under_way": self.under_way, **gauges}.items():
            lines += [f"# TYPE worldline_{name} gauge", f"worldline_{name} {value}"]
        return "\n".join(lines) + "\n"
