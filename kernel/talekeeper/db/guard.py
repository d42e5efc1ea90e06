"""Knows whether a write is open in the running thread or task, so that nothing leaves the process while one is.

`Database.write` sets the mark; models, HTTP, tools, hooks and files ask `ensure_outside_write` before they start. A
context variable and not a thread-local: it follows a call into a worker thread that runs in a copied context.
"""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType

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


class WriteOpen:
    """Marks the block as inside the write `name`."""

    __slots__ = ("_name", "_token")

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._token = _open_write.set(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open_write.reset(self._token)
