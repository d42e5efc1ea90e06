"""Seeds: records a plugin brings along, given to a scope when the plugin is first active in it.

An upgrade replaces what still equals the old seed, withdraws what the new one leaves out, and keeps whatever anybody
edited, withdrew or forgot. In an append-only namespace, where nothing can be replaced, changed lines stay as they were.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from talekeeper.db import Tx, dumps
from talekeeper.errors import LimitReached, ManifestError
from talekeeper.manifest import Namespace, seed_rows
from talekeeper.story import ROOT, Scope, Story

_AT_ONCE = 100
_DIGEST = (
    "SELECT digest FROM plugin_seed WHERE workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ?"
)
_RECORDS = (
    "SELECT key, digest FROM plugin_seed_record"
    " WHERE workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ?"
)
_DROP = (
    "DELETE FROM plugin_seed_record"
    " WHERE workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ? AND key = ?"
)
_log = logging.getLogger("talekeeper.plugins")


class Seed:
    """The seed files of one namespace as they are on disk now."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self._raw = [path.read_bytes() for path in namespace.seed]
        self.digest = hashlib.blake2b(b"\0".join(self._raw), digest_size=16).hexdigest()

    def records(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(key, value) of every line; raises ManifestError at a line that is no record."""
        for path, raw in zip(self.namespace.seed, self._raw, strict=True):
            for row in seed_rows(raw, self.namespace.schema):
                if row.value is None:
                    raise ManifestError(row.fault, where=f"{path}:{row.line}")
                yield row.key, row.value


def is_given(tx: Tx, seed: Seed, scope: Scope) -> bool:
    """Whether the scope was given exactly this seed."""
    row = tx.one(_DIGEST, _params(seed, scope))
    return row is not None and row[0] == seed.digest


def give(story: Story, seed: Seed, scope: Scope) -> None:
    """Brings a scope from whatever seed it was given before to this one, in short transactions.

    Stopped anywhere, it goes on when called again.
    """
    records = seed.records()
    keys: set[str] = set()
    while batch := list(islice(records, _AT_ONCE)):
        keys.update(key for key, _ in batch)
        story.write(partial(_give, story, seed, scope, batch), name="give a seed")
    story.write(lambda tx: _finish(story, tx, seed, scope, keys), name="give a seed")


def _give(story: Story, seed: Seed, scope: Scope, batch: list[tuple[str, Mapping[str, Any]]], tx: Tx) -> None:
    given = _given(tx, seed, scope)
    for key, value in batch:
        if _is_to_write(story, tx, seed, scope, key, given.get(key), value):
            try:
                story.records.put(seed.namespace, scope, key, value, at=ROOT, tx=tx)
            except LimitReached as error:
                _log.warning("seed record %s of %s is left out: %s", key, seed.namespace.path, error.what)
                continue
            _note(tx, seed, scope, key, value)


def _is_to_write(
    story: Story, tx: Tx, seed: Seed, scope: Scope, key: str, given: str | None, value: Mapping[str, Any]
) -> bool:
    if given is None:
        return not story.records.history(seed.namespace, scope, key, tx=tx)
    return given != _digest(value) and not seed.namespace.append_only and _untouched(story, tx, seed, scope, key, given)


def _finish(story: Story, tx: Tx, seed: Seed, scope: Scope, keys: set[str]) -> None:
    for key, given in _given(tx, seed, scope).items():
        if key not in keys:
            if _untouched(story, tx, seed, scope, key, given):
                story.records.withdraw(seed.namespace, scope, key, at=ROOT, tx=tx)
            tx.run(_DROP, (*_params(seed, scope), key))
    tx.run(
        "INSERT INTO plugin_seed (workspace, preset, session, plugin, namespace, digest) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, preset, session, plugin, namespace) DO UPDATE SET digest = excluded.digest",
        (*_params(seed, scope), seed.digest),
    )


def _untouched(story: Story, tx: Tx, seed: Seed, scope: Scope, key: str, given: str) -> bool:
    # What stands at the root is the seed or a person's own version; what the plugin wrote later stands deeper.
    record = story.records.get(seed.namespace, scope, key, at=ROOT, tx=tx)
    return record is not None and _digest(record.value) == given


def _given(tx: Tx, seed: Seed, scope: Scope) -> dict[str, str]:
    return dict(tx.rows(_RECORDS, _params(seed, scope)))


def _note(tx: Tx, seed: Seed, scope: Scope, key: str, value: Mapping[str, Any]) -> None:
    tx.run(
        "INSERT INTO plugin_seed_record (workspace, preset, session, plugin, namespace, key, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, preset, session, plugin, namespace, key) DO UPDATE SET digest = excluded.digest",
        (*_params(seed, scope), key, _digest(value)),
    )


def _digest(value: object) -> str:
    return hashlib.blake2b(dumps(value, "seed").encode(), digest_size=16).hexdigest()


def _params(seed: Seed, scope: Scope) -> tuple[str, str, str, str, str]:
    return scope.workspace, scope.preset, scope.session, seed.namespace.plugin, seed.namespace.name
