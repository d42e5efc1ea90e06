"""JSON and strings as models write them, made fit to be kept: no NaN, no NUL, no half of a surrogate pair."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeGuard

from talekeeper.errors import ParameterError
from talekeeper.models.chat import ToolCall

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_DEEPEST = 64
"""Levels of lists and objects, as many as a store takes. A parser reads more than what goes through the value can."""


class NotJson(ValueError):
    """Its text says why; `at` is the character up to which it could be read."""

    def __init__(self, why: str, at: int = 0) -> None:
        self.at = at
        super().__init__(why)


def fit(text: str) -> str:
    """The text with surrogate pairs joined, lone surrogates replaced and NUL left out."""
    if not _UNFIT.search(text):
        return text
    joined = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _UNFIT.sub(lambda found: "" if found[0] == "\0" else "\ufffd", joined)


def read_json(text: str) -> Any:
    """The value of a whole text, its strings made fit; raises `NotJson`."""
    value, end = read_json_at(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise NotJson("there is more text after the JSON", end)
    return value


def read_json_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start` and where it ends; raises `NotJson`."""
    try:
        value, end = _decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at character {error.pos + 1}", error.pos) from None
    except RecursionError:
        raise NotJson("it is nested too deep", len(text)) from None
    except ValueError as error:
        # An integer of more digits than Python reads, or NaN.
        raise NotJson(str(error).partition(";")[0], len(text)) from None
    return _fit_value(value, 0), end


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a tool call; raises `ParameterError` with a sentence that can be shown to the model.

    Some models write nothing where they mean no arguments.
    """
    if not call.arguments.strip():
        return {}
    try:
        value = read_json(call.arguments)
    except NotJson as error:
        raise ParameterError(call.name, f"the arguments are not JSON: {error}", cure="write one JSON object") from None
    if not is_object(value):
        raise ParameterError(call.name, "the arguments are no JSON object", cure="write one JSON object")
    return value


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """What JSON calls an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """What JSON calls an array."""
    return isinstance(value, list)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)


def _fit_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return fit(value)
    if depth == _DEEPEST and isinstance(value, (list, dict)):
        raise NotJson("it is nested too deep")
    if is_array(value):
        return [_fit_value(item, depth + 1) for item in value]
    if is_object(value):
        return {fit(key): _fit_value(item, depth + 1) for key, item in value.items()}
    return value
