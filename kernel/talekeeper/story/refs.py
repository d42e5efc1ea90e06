"""An importer's own ids: what was imported before is skipped, what comes back changed is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from talekeeper.db import Tx
from talekeeper.errors import Conflict
from talekeeper.story.views import Address

if TYPE_CHECKING:
    from talekeeper.story.append import Prepared

_AT_ONCE = 500


def new_only(tx: Tx, address: Address, prepared: Sequence[Prepared]) -> list[Prepared]:
    """Leaves out drafts whose `ref` is there with the same text; raises `Conflict` with `data["ref"]` on another text.

    The text counts as the same when the message ever had it: an edit made here does not make a file unreadable.
    """
    known = _known(tx, address, [item.draft.ref for item in _flat(prepared) if item.draft.ref is not None])
    fresh: list[Prepared] = []
    for item in prepared:
        if item.draft.ref is None or item.draft.ref not in known:
            fresh.append(item)
        for each in (item, *item.takes):
            _compare(address, each, known)
    return fresh


def _compare(address: Address, item: Prepared, known: dict[str, set[str]]) -> None:
    ref, text = item.draft.ref, item.draft.text
    if ref is None:
        return
    if text not in known.setdefault(ref, {text}):
        raise Conflict(
            f"the message {ref!r} is already there with another text",
            where=address.session,
            cure="edit it there, or import the file as another session",
            ref=ref,
        )


def _known(tx: Tx, address: Address, refs: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for start in range(0, len(refs), _AT_ONCE):
        some = refs[start : start + _AT_ONCE]
        rows = tx.rows(
            "SELECT m.ref, m.text, t.text FROM message m LEFT JOIN message_text t "
            "ON t.workspace = m.workspace AND t.session = m.session AND t.message = m.id "
            f"WHERE m.workspace = ? AND m.session = ? AND m.ref IN ({', '.join('?' * len(some))})",
            (address.workspace, address.session, *some),
        )
        for ref, now, before in rows:
            found.setdefault(ref, set()).update({now} if before is None else {now, before})
    return found


def _flat(prepared: Sequence[Prepared]) -> Iterator[Prepared]:
    for item in prepared:
        yield item
        yield from item.takes
