from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from talekeeper.plugins.resolver import ordered, path_between

_NAMES = st.sampled_from("abcdefgh")
_GRAPHS = st.dictionaries(_NAMES, st.sets(_NAMES, max_size=4), max_size=8)


def _acyclic(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    return {node: {needed for needed in needs if needed < node} for node, needs in graph.items()}


@given(requires=_GRAPHS, optional=_GRAPHS)
def test_each_comes_once_and_after_what_it_requires(
    requires: dict[str, set[str]], optional: dict[str, set[str]]
) -> None:
    graph = _acyclic(requires)

    result = ordered(graph, optional)

    assert sorted(result) == sorted(graph)
    for node, needs in graph.items():
        assert all(result.index(needed) < result.index(node) for needed in needs if needed in graph)


@given(optional=_GRAPHS)
def test_optional_edges_without_a_circle_are_all_kept(optional: dict[str, set[str]]) -> None:
    wished = _acyclic(optional)

    result = ordered(dict.fromkeys(wished, ()), wished)

    for node, uses in wished.items():
        assert all(result.index(used) < result.index(node) for used in uses if used in wished)


def test_without_edges_the_order_is_by_id() -> None:
    assert ordered({"c": (), "a": (), "b": ()}, {}) == ["a", "b", "c"]


def test_an_optional_edge_never_turns_a_requirement_round() -> None:
    assert ordered({"a": (), "b": ("a",)}, {"a": ("b",)}) == ["a", "b"]


def test_a_circle_is_told_as_the_way_round() -> None:
    requires = {"a": ("b",), "b": ("c",), "c": ("a",), "d": ("a",)}

    circle = path_between("a", "a", requires)

    assert circle == ("a", "b", "c", "a")
    assert path_between("d", "d", requires) == ()
