"""Marks of pages: a place in an ordered list as a short text that means nothing to whoever carries it.

>>> unpacked(packed(1_794_787_200_000_000, 42)), len(packed(1_794_787_200_000_000, 42)) < 16
((1794787200000000, 42), True)
"""

from __future__ import annotations

import base64
import binascii

from worldline.errors import InvalidInput


def packed(*numbers: int) -> str:
    """Numbers as one mark."""
    parts = [number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True) for number in numbers]
    body = b"".join(bytes([len(part)]) + part for part in parts)
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def unpacked(mark: str) -> tuple[int, int]:
    """The two numbers of a mark; anything else is refused."""
    try:
        body = base64.urlsafe_b64decode(mark + "=" * (-len(mark) % 4))
    except (binascii.Error, ValueError):
        body = b""
    numbers = []
    while body:
        size, rest = body[0], body[1:]
        if not 0 < size <= len(rest) or size > 9:
            break
        numbers.append(int.from_bytes(rest[:size], "big", signed=True))
        body = rest[size:]
    if body or len(numbers) != 2 or packed(*numbers) != mark:
        raise InvalidInput(f"{mark[:40]!r} is not the mark of a page; use the `next` of the page before")
    return numbers[0], numbers[1]
