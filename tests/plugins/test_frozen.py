from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.plugins.frozen import frozen, plain

_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(value=_JSON)
def test_a_frozen_copy_equals_its_original_and_reads_as_the_same_json(value: Any) -> None:
    copy = frozen(value)

    assert copy == value
    assert json.dumps(copy) == json.dumps(value)
    assert plain(copy) == value


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda it: it.update(x=1), id="update"),
        pytest.param(lambda it: it.pop("words"), id="pop"),
        pytest.param(lambda it: it.__setitem__("x", 1), id="set"),
        pytest.param(lambda it: it.__ior__({"x": 1}), id="or-assign"),
        pytest.param(lambda it: it["words"].append(1), id="append inside"),
        pytest.param(lambda it: it["words"].sort(), id="sort inside"),
        pytest.param(lambda it: it["words"].__iadd__([1]), id="add-assign inside"),
        pytest.param(lambda it: it["deep"]["er"].clear(), id="clear deep inside"),
    ],
)
def test_a_frozen_value_refuses_every_change(change: Callable[[Any], object]) -> None:
    value = {"words": ["b", "a"], "deep": {"er": [1]}}
    copy = frozen(value)

    with pytest.raises(TypeError, match="frozen"):
        change(copy)

    assert copy == value


def test_a_copy_of_a_frozen_dict_can_be_changed() -> None:
    copy = dict(frozen({"a": 1}))

    copy["a"] = 2

    assert copy == {"a": 2}


class _Sly(dict[str, Any]):
    def items(self) -> Any:
        raise AssertionError("code of the plugin ran")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        pytest.param(object(), "object, which JSON does not have", id="an object"),
        pytest.param({"a": {1, 2}}, "/a is set", id="a set inside"),
        pytest.param(_Sly(a=1), "_Sly", id="a subclass with code of its own"),
        pytest.param([float("nan")], "/0 is not a finite number", id="NaN"),
        pytest.param({"n": 2**53 + 1}, "/n is an integer beyond", id="a large integer"),
        pytest.param("a\0b", "NUL", id="NUL"),
        pytest.param("\ud800", "half of a surrogate", id="a lone surrogate"),
        pytest.param({1: "a"}, "a key that is not a string", id="a number as key"),
        pytest.param("x" * 2_000, "larger than 1,000 bytes", id="too large"),
        pytest.param(["x" * 100] * 100, "larger than 1,000 bytes", id="too large in sum"),
    ],
)
def test_what_json_cannot_hold_is_told_with_its_place(value: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        plain(value, limit=1_000)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(ValueError, match="deeper than 64"):
        plain(value)
