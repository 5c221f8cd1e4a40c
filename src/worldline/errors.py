"""Every exception that Worldline raises on purpose.

    WorldlineError
    ├── InvalidInput          the caller sent something that can never be stored
    │   ├── InvalidText       empty, too long, NUL, lone surrogate
    │   ├── InvalidTime       naive datetime, out of range, empty interval
    │   └── UnknownType       a type, edge or setting that nobody registered
    ├── Refused               a rule or an edge handler said no; nothing was written
    ├── NotFound              no such memory in this tenant, scope and world
    ├── Ambiguous             a prefix that fits several memories
    ├── ReadOnly              a write on a handle that looks at the past
    ├── Conflict              somebody else changed it first
    └── StoreError            the file or the machine
        ├── NotAStore         the file is something else
        ├── NewerFormat       written by a newer Worldline
        ├── StoreFull         the disk is full; nothing was half-written
        ├── StoreBusy         the write lock could not be had in time; repeat the call
        └── StoreAway         the server does not answer; repeat the call

Expected outcomes (abstention, proposals, verdicts, "already there") are values, not exceptions.
"""


class WorldlineError(Exception):
    """The root: catch this to catch everything Worldline raises on purpose."""


class InvalidInput(WorldlineError, ValueError):
    """The caller sent something that can never be stored."""


class InvalidText(InvalidInput):
    """Text that is empty, too long, or cannot be stored exactly."""


class InvalidTime(InvalidInput):
    """A time that is naive, out of range, or the wrong way round."""


class UnknownType(InvalidInput):
    """A name outside the closed ontology; the message lists what is allowed."""


class Refused(WorldlineError):
    """A rule, a bound scope or an edge handler refused this; nothing was written."""


class NotFound(WorldlineError, LookupError):
    """No such memory in this tenant, scope and world."""


class Ambiguous(WorldlineError, LookupError):
    """A prefix that fits several memories; the message lists them."""


class ReadOnly(WorldlineError):
    """A write on a handle that looks at a past moment."""


class Conflict(WorldlineError):
    """Somebody else changed it first; read again and repeat."""


class StoreError(WorldlineError):
    """Something is wrong with the file or the machine."""


class NotAStore(StoreError):
    """The file exists and is not a Worldline store."""


class NewerFormat(StoreError):
    """The file was written by a newer Worldline than this one."""


class StoreFull(StoreError):
    """The disk is full; the write was rolled back whole."""


class StoreBusy(StoreError):
    """The write lock could not be had within the configured time."""


class StoreAway(StoreError):
    """The server does not answer, or went away in the middle; the call may be repeated.

    `undecided` says that it went away while it committed: the write was kept whole, or not at all.
    """

    def __init__(self, message: str, *, undecided: bool = False) -> None:
        super().__init__(message)
        self.undecided = undecided
