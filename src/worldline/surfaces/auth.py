"""Bearer tokens: which token opens which tenant's memory.

A tokens file is TOML: `tenant = "token"`, or a list of tokens. Only hashes are kept, and every one
of them is compared in constant time. Without tokens a server listens on this machine only.
"""

from __future__ import annotations

import hmac
import ipaddress
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from worldline.errors import InvalidInput, Refused
from worldline.write.check import clean_name

SHORTEST = 16


class Tokens:
    """The tokens that a server knows."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._known = [(_digest(_checked(token)), clean_name(tenant, "tenant")) for token, tenant in pairs]

    def __bool__(self) -> bool:
        return bool(self._known)

    def tenant(self, header: str | None) -> str | None:
        """The tenant that an `Authorization` header opens; None where it opens none."""
        kind, _, token = (header or "").partition(" ")
        given = _digest(token.strip())
        found = None
        for known, tenant in self._known:  # all of them: how long it takes must not tell which one fits
            if hmac.compare_digest(known, given):
                found = tenant
        return found if kind.lower() == "bearer" else None


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


def _checked(token: str) -> str:
    if len(token) < SHORTEST or any(c.isspace() or not c.isprintable() for c in token):
        raise InvalidInput(f"a token has at least {SHORTEST} characters and no blanks")
    return token


def load(path: Path | None, tenant: str, environ: Mapping[str, str]) -> Tokens:
    """The tokens of a file, and WORLDLINE_TOKEN for the server's own tenant."""
    pairs = list(_from_file(path)) if path else []
    if token := environ.get("WORLDLINE_TOKEN"):
        pairs.append((token, tenant))
    return Tokens(pairs)


def _from_file(path: Path) -> Iterator[tuple[str, str]]:
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise Refused(f"others can read {path}; run: chmod 600 {path}")
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"cannot read the tokens in {path}: {error}") from None
    for tenant, given in values.items():
        for token in given if isinstance(given, list) else [given]:
            if not isinstance(token, str):
                raise InvalidInput(f'{path}: a tenant has a token ("…") or a list of tokens, see {tenant!r}')
            yield token, tenant


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_safe(host: str, tokens: Tokens) -> None:
    """Refuses to listen to the network without tokens."""
    if not tokens and not is_loopback(host):
        raise Refused(
            f"{host} is reachable by others; give --tokens FILE (or WORLDLINE_TOKEN), or listen on 127.0.0.1"
        )
