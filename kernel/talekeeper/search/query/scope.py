"""Which passages of a partition a query may see, decided before any statistic is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from talekeeper.search.passage import PERSON, WITHDRAWN, Kind, LeftOut, PartScope, Query, Source
from talekeeper.search.storage.columns import Bools, Bytes, Column, Columns, Doubles, Ints, Positions
from talekeeper.search.storage.partition import PartState

OUTSIDE = 0
_DEEPEST = 2**31 - 1


def label_of(kind: Kind) -> int:
    """What `Scope.labels` holds for a passage of this kind in scope."""
    return kind + 1


class Scope:
    """The passages in scope. `labels` has, for each position, 0 outside or `label_of` its kind.

    `counts` and `lengths` say for each kind how many passages there are and how long they are together.
    """

    def __init__(self, labels: Bytes, state: PartState, weights: Doubles) -> None:
        self.labels = labels
        self._columns = state.columns
        self._extent = state.extent
        self._weights = weights
        self._spans: dict[Kind, tuple[int, int]] = {}
        held = [labels == label_of(kind) for kind in Kind]
        self.counts = [int(np.count_nonzero(is_one)) for is_one in held]
        self.lengths = [self._total_length(is_one, count) for is_one, count in zip(held, self.counts, strict=True)]

    def is_whole(self, kind: Kind) -> bool:
        """Whether every position of the partition is in scope and of this kind."""
        return self.counts[kind] == len(self.labels)

    def span(self, kind: Kind) -> tuple[int, int]:
        """The first position in scope of this kind, and the one behind the last; (0, 0) where there is none."""
        if kind not in self._spans:
            is_one = self.labels == label_of(kind)
            end = len(is_one) - int(is_one[::-1].argmax()) if self.counts[kind] else 0
            self._spans[kind] = (int(is_one.argmax()), end) if end else (0, 0)
        return self._spans[kind]

    @cached_property
    def weights(self) -> Doubles | None:
        """The declared weight of each position's source; None where all are 1."""
        return None if np.all(self._weights == 1) else self._weights.take(self._columns.source)

    @cached_property
    def along(self) -> Positions:
        """Positions of the messages in scope, in the order of the lineage."""
        held = np.flatnonzero(self.labels == label_of(Kind.MESSAGE))
        if self._extent.ascends:
            return held
        depth = self._columns.depth[held]
        return held if _ascends(depth) else held[np.argsort(depth, kind="stable")]

    def places(self, positions: Positions) -> Positions:
        """Where in `along` these messages in scope stand."""
        if self._sorted is None:
            return np.searchsorted(self.along, positions)
        return self._sorted[np.searchsorted(self.along, positions, sorter=self._sorted)]

    @cached_property
    def _sorted(self) -> Positions | None:
        """The places of `along` by position; None where they already are: no message was edited."""
        return None if self._extent.ascends or _ascends(self.along) else np.argsort(self.along, kind="stable")

    def _total_length(self, is_one: Bools, count: int) -> int:
        """Adds up those that are the fewer: the passages or all others."""
        if count in {0, len(is_one)}:
            return self._extent.length if count else 0
        length = self._columns.length
        if 2 * count <= len(length):
            return int(length[is_one].sum(dtype=np.int64))
        return self._extent.length - int(length[~is_one].sum(dtype=np.int64))


def _ascends(values: Column) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def scope_of(state: PartState, query: Query, part: PartScope) -> Scope:
    """The scope made earlier for the same question, or a new one."""
    key = (frozenset(part.upto.items()), query.sources, query.turn_from, query.turn_to, query.before_turn)
    return state.derived(key, lambda: _make_scope(state, query, part.upto))


def _make_scope(state: PartState, query: Query, upto: Mapping[int, int]) -> Scope:
    """Applies the filters of `query`: deadness, lineage and source, then versions, then turns.

    Versions are decided before turns are looked at: a version that lost does not come back because the winner's turn
    is out of range.
    """
    columns, extent = state.columns, state.extent
    labels, weights = _by_source(state, query.sources)
    labels *= state.live.view(np.uint8)
    if extent.branch or extent.depth > upto.get(0, -1):
        labels *= on_lineage(columns, extent.branch, upto).view(np.uint8)
    if any(source.plugin for source in query.sources):
        _drop_beaten_versions(columns, labels)
        labels[(labels == label_of(Kind.RECORD)) & ((columns.flags & WITHDRAWN) != 0)] = OUTSIDE
    _apply_turns(columns, labels, query)
    return Scope(labels, state, weights)


def left_out(state: PartState, query: Query, part: PartScope, scope: Scope) -> LeftOut:
    """What the filters of `query`, whose scope that is, took out of a partition."""
    labels, _ = _by_source(state, query.sources)
    live = int(np.count_nonzero(labels * state.live.view(np.uint8)))
    every = replace(query, before_turn=None)
    within = sum(scope_of(state, every, part).counts)
    standing = sum(scope_of(state, replace(every, turn_from=None, turn_to=None), part).counts)
    return LeftOut(live - standing, standing - within, within - sum(scope.counts))


def _by_source(state: PartState, sources: tuple[Source, ...]) -> tuple[Bytes, Doubles]:
    """Labels of all passages by their source alone, and the weight of each source number."""
    size = max(state.sources.values(), default=0) + 1
    label_table = np.zeros(size, np.uint8)
    weights = np.ones(size)
    for source in sources:
        kind = Kind.RECORD if source.plugin else Kind.MESSAGE
        number = state.sources.get((kind, source.plugin, source.namespace))
        if number is not None:
            label_table[number] = label_of(kind)
            weights[number] = source.weight if kind is Kind.RECORD else 1
    if size == 1:  # nothing but messages: no look-up for each, which is most of what a scope costs
        return np.full(len(state), label_table[0]), weights
    return label_table.take(state.columns.source), weights


def on_lineage(columns: Columns, highest: int, upto: Mapping[int, int]) -> Bools:
    """True where `depth <= upto[branch]`; the root (0, -1) lies on every lineage. `highest` is that of the branches."""
    branches = min(max(upto, default=0), highest) + 1
    limits = np.full(branches + 1, -2, np.int32)
    limits[0] = -1
    for branch, depth in upto.items():
        if branch < branches:
            limits[branch] = max(limits[branch], min(depth, _DEEPEST))
    if not highest:  # no look-up for each passage
        is_on: Bools = columns.depth <= limits[0]
        return is_on
    # Branches above the highest asked for share the last limit, which nothing meets.
    return columns.depth <= limits.take(columns.branch, mode="clip")


def _drop_beaten_versions(columns: Columns, labels: Bytes) -> None:
    """Keeps one version of each record's key on the lineage, by the rule that `Passage` states."""
    later = columns.slot[(labels == label_of(Kind.RECORD)) & (columns.slot != columns.doc)]
    if not len(later):
        return
    slots = np.unique(later)
    records = np.flatnonzero(labels == label_of(Kind.RECORD))
    rows = records[np.isin(columns.slot[records], slots)]
    group = np.searchsorted(slots, columns.slot[rows])
    revision = columns.revision[rows].astype(np.int64)
    standing = revision >= _newest_by_person(columns, rows, group, revision, len(slots))
    order = np.lexsort((revision, columns.depth[rows], standing, group))
    is_last = np.append(group[order][1:] != group[order][:-1], True)
    labels[rows[order[~is_last]]] = OUTSIDE


def _newest_by_person(columns: Columns, rows: Positions, group: Positions, revision: Ints, groups: int) -> Ints:
    """For each row, the highest revision a person wrote of its key on the lineage; -1 for none."""
    newest = np.full(groups, -1, np.int64)
    by_person = (columns.flags[rows] & PERSON) != 0
    np.maximum.at(newest, group[by_person], revision[by_person])
    return newest[group]


def _apply_turns(columns: Columns, labels: Bytes, query: Query) -> None:
    turn = columns.turn
    if query.turn_from is not None:
        labels[turn < query.turn_from] = OUTSIDE
    if query.turn_to is not None:
        labels[turn > query.turn_to] = OUTSIDE
    if query.turn_from is not None or query.turn_to is not None:
        labels[turn < 0] = OUTSIDE
    if query.before_turn is not None:
        labels[(turn >= query.before_turn) & (labels == label_of(Kind.MESSAGE))] = OUTSIDE
