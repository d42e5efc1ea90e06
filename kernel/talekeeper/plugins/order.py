"""In which order plugins come: each after what it requires, and after what it uses when present, else by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter


def cycle_through(start: str, requires: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The way along `requires` from `start` back to itself; empty when there is none."""
    trail: list[tuple[str, tuple[str, ...]]] = [(start, (start,))]
    seen: set[str] = set()
    while trail:
        node, way = trail.pop()
        for needed in sorted(requires.get(node, ())):
            if needed == start:
                return (*way, start)
            if needed not in seen:
                seen.add(needed)
                trail.append((needed, (*way, needed)))
    return ()


def ordered(requires: Mapping[str, Iterable[str]], optional: Mapping[str, Iterable[str]]) -> list[str]:
    """Every key of `requires`, which has no cycle; an `optional` edge that would close one is left out."""
    edges = {node: {needed for needed in needs if needed in requires} for node, needs in requires.items()}
    for node in sorted(edges):
        for used in sorted(optional.get(node, ())):
            if used in edges and not _reaches(used, node, edges):
                edges[node].add(used)
    sorter = TopologicalSorter(edges)
    sorter.prepare()
    result: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        result += ready
        sorter.done(*ready)
    return result


def _reaches(start: str, goal: str, edges: Mapping[str, Iterable[str]]) -> bool:
    return start == goal or goal in _all_from(start, edges)


def _all_from(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for following in edges.get(waiting.pop(), ()):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return seen
