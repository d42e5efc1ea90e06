from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.text import FrozenDict, FrozenList, freeze, thaw

_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(value=_JSON)
def test_a_frozen_copy_equals_its_original_and_reads_as_the_same_json(value: Any) -> None:
    copy = freeze(value)

    assert copy == value
    assert json.dumps(copy) == json.dumps(value)
    assert thaw(copy) == value


@pytest.mark.parametrize(
    "change",
    [
        "it.update(x=1)",
        "it.pop('words')",
        "it.__setitem__('x', 1)",
        "it.__ior__({'x': 1})",
        "it['words'].append(1)",
        "it['words'].sort()",
        "it['words'].__iadd__([1])",
        "it['deep']['er'].clear()",
    ],
)
def test_a_frozen_value_refuses_every_change(change: str) -> None:
    value = {"words": ["b", "a"], "deep": {"er": [1]}}
    copy = freeze(value)

    with pytest.raises(TypeError, match="frozen"):
        eval(change, {"it": copy})  # noqa: S307 -- the line above

    assert copy == value


@pytest.mark.parametrize(("plain_kind", "frozen_kind"), [(dict, FrozenDict), (list, FrozenList)])
def test_no_method_that_changes_the_plain_kind_is_left(plain_kind: type, frozen_kind: type) -> None:
    harmless = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    public = {name for name in vars(plain_kind) if not name.startswith("_")} - harmless

    assert {name for name in public if vars(frozen_kind).get(name) is None} == set()


def test_a_copy_of_a_frozen_dict_can_be_changed() -> None:
    copy = dict(freeze({"a": 1}))

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
        pytest.param({"n": 2**53}, "/n is an integer beyond", id="a large integer"),
        pytest.param("a\0b", "NUL", id="NUL"),
        pytest.param("\ud800", "half of a surrogate", id="a lone surrogate"),
        pytest.param({1: "a"}, "a key that is not a string", id="a number as key"),
        pytest.param("x" * 2_000, "larger than 1,000 bytes", id="too large"),
        pytest.param(["x" * 100] * 100, "larger than 1,000 bytes", id="too large in sum"),
    ],
)
def test_what_json_cannot_hold_is_told_with_its_place(value: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        thaw(value, limit=1_000)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(ValueError, match="deeper than 64"):
        thaw(value)
