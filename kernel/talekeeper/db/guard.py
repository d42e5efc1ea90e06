"""Knows whether a write is open in the running thread or task, so that nothing leaves the process while one is.

`Database.write` sets the mark; models, HTTP, tools, hooks and files ask `ensure_outside_write` before they start. A
context variable and not a thread-local: it follows a call into a worker thread that runs in a copied context.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from talekeeper.errors import HeldAcrossCall

_open_write: ContextVar[str] = ContextVar("talekeeper_open_write", default="")


def ensure_outside_write(what: str) -> None:
    """Raises `HeldAcrossCall`, naming `what` and the write, when a write transaction is open here."""
    name = _open_write.get()
    if name:
        raise HeldAcrossCall(
            f"{what} was started while the write '{name}' was open",
            cure="read first, call, then write the result",
            call=what,
            write=name,
        )


@contextmanager
def write_open(name: str) -> Generator[None, None, None]:
    """Marks the block as inside the write `name`."""
    token = _open_write.set(name)
    try:
        yield
    finally:
        _open_write.reset(token)
