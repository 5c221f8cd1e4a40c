"""Bearer tokens: which token opens which tenant's memory, and whether it may write.

A tokens file is TOML: `tenant = "token"`, or a list of tokens. A token stands there as its hash
(`sha256:…`, as `worldline token` writes it) or as it is, and ` read-only` after it lets it only read. In
memory only hashes are kept, and every one of them is compared in constant time. A file that changes is
read again, so tokens are given and taken while the server runs. Without tokens a server listens on
this machine only.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
import secrets
import stat
import string
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import orjson

from worldline.errors import InvalidInput, Refused
from worldline.model import clean_name

SHORTEST = 16
HASHED = "sha256:"
READ_ONLY = " read-only"
_HEAD = "# Bearer tokens by tenant, as hashes; `worldline token` adds one and shows it once.\n"


class AccessPass(NamedTuple):
    """What a token opens."""

    tenant: str
    read_only: bool = False


class Tokens:
    """The tokens that a server knows."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = (), path: Path | None = None) -> None:
        self._given = [_entry(token, tenant) for token, tenant in pairs]
        self._path, self._seen = path, _version(path)
        self._known = [*self._given, *_listed(path)]

    def __bool__(self) -> bool:
        return bool(self._known) or self._path is not None

    def opens(self, header: str | None) -> AccessPass | None:
        """What an `Authorization` header opens; None where it opens nothing."""
        self._look_again()
        kind, _, token = (header or "").partition(" ")
        given = _digest(token.strip())
        found = None
        for known, opened in self._known:  # all of them: how long it takes must not tell which one fits
            if hmac.compare_digest(known, given):
                found = opened
        return found if kind.lower() == "bearer" else None

    def _look_again(self) -> None:
        """A changed file is read again; one that cannot be read leaves everything as it was."""
        version = _version(self._path)
        if version == self._seen:
            return
        self._seen = version
        try:
            self._known = [*self._given, *_listed(self._path)]
        except (InvalidInput, Refused) as error:
            logging.getLogger("worldline").warning("the tokens stay as they were: %s", error)


def _version(path: Path | None) -> tuple[int, int] | None:
    try:
        found = path.stat() if path else None
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino) if found else None


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _entry(token: str, tenant: str) -> tuple[bytes, AccessPass]:
    """A token as it stands in a file: its hash, and what it opens."""
    body, read_only = token.removesuffix(READ_ONLY), token.endswith(READ_ONLY)
    opened = AccessPass(clean_name(tenant, "tenant"), read_only)
    if body.startswith(HASHED):
        digits = body.removeprefix(HASHED)
        if len(digits) != 64 or set(digits) - set(string.hexdigits):
            raise InvalidInput("a hashed token is sha256: and 64 hex digits; make one with `worldline token`")
        return bytes.fromhex(digits), opened
    if len(body) < SHORTEST or any(c.isspace() or not c.isprintable() for c in body):
        raise InvalidInput(f"a token has at least {SHORTEST} characters and no blanks")
    return _digest(body), opened


def load(path: Path | None, tenant: str, environ: Mapping[str, str]) -> Tokens:
    """The tokens of a file, and WORLDLINE_TOKEN for the server's own tenant."""
    token = environ.get("WORLDLINE_TOKEN")
    return Tokens([(token, tenant)] if token else (), path)


def _listed(path: Path | None) -> list[tuple[bytes, AccessPass]]:
    entries = list(_from_file(path)) if path else []
    if any(not token.startswith(HASHED) for token, _ in entries):
        logging.getLogger("worldline").warning("%s holds tokens as they are; `worldline token` hashes", path)
    return [_entry(token, tenant) for token, tenant in entries]


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


def issue(path: Path, tenant: str, *, read_only: bool = False, alone: bool = False) -> str:
    """A new token for a tenant, written down as its hash; `alone` takes the tenant's others away."""
    token = f"wl_{secrets.token_urlsafe(32)}"
    tenant = clean_name(tenant, "tenant")
    held: dict[str, list[str]] = {}
    for entry, whose in _from_file(path) if path.exists() else ():
        digest, opened = _entry(entry, whose)
        held.setdefault(whose, []).append(_written(digest, read_only=opened.read_only))
    others = [] if alone else held.get(tenant, [])
    held[tenant] = [*others, _written(_digest(token), read_only=read_only)]
    lines = [
        f"{orjson.dumps(whose).decode()} = {orjson.dumps(all_).decode()}\n" for whose, all_ in held.items()
    ]
    _replace(path, _HEAD + "".join(lines))
    return token


def _written(digest: bytes, *, read_only: bool) -> str:
    return f"{HASHED}{digest.hex()}{READ_ONLY if read_only else ''}"


def _replace(path: Path, text: str) -> None:
    """The whole file at once, for its owner only."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(text)
        beside.replace(path)
    except OSError as error:
        raise Refused(f"cannot write {path} ({error.strerror})") from None


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
