"""Whether the one who asks is the owner of what a session may reach."""

from __future__ import annotations

from typing import Protocol

from talekeeper.db import Tx

_LOCAL = "local"


class Addressed(Protocol):
    """Names a session; story's `Address` does."""

    @property
    def workspace(self) -> str:
        """The session's workspace."""
        ...

    @property
    def session(self) -> str:
        """Its id."""
        ...


def is_owner(tx: Tx, address: Addressed) -> bool:
    """Asked in the transaction that reads what it protects, and never cached.

    Whoever has the home owns the sessions of the local channel; a session of any other channel has no owner, since
    nothing vouches for who speaks there. A session that does not exist is not owned either.
    """
    row = tx.one(
        "SELECT channel FROM session WHERE workspace = ? AND id = ? AND deleting = 0",
        (address.workspace, address.session),
    )
    return row is not None and row[0] == _LOCAL
