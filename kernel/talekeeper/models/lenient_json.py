"""JSON and strings as models write them, made fit to be kept: no NaN, no NUL, no half of a surrogate pair."""

from __future__ import annotations

import re
from typing import Any

from talekeeper.errors import ParameterError
from talekeeper.models.chat import ToolCall
from talekeeper.text import NotJson, is_array, is_table, scan_json

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNFIT = re.compile("[\0\ud800-\udfff]")


def storable_text(text: str) -> str:
    """The text with surrogate pairs joined, lone surrogates replaced and NUL left out."""
    if not _UNFIT.search(text):
        return text
    joined = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _UNFIT.sub(lambda found: "" if found[0] == "\0" else "\ufffd", joined)


def read_json(text: str) -> Any:
    """The value of a whole text, its strings made fit; raises `NotJson`."""
    value, end = read_json_at(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise NotJson("there is more text after the JSON")
    return value


def read_json_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start`, its strings made fit, and where it ends; raises `NotJson`."""
    value, end = scan_json(text, start)
    return _fitted(value), end


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
    if not is_table(value):
        raise ParameterError(call.name, "the arguments are no JSON object", cure="write one JSON object")
    return value


def _fitted(value: Any) -> Any:
    if isinstance(value, str):
        return storable_text(value)
    if is_array(value):
        return [_fitted(item) for item in value]
    if is_table(value):
        return {storable_text(key): _fitted(item) for key, item in value.items()}
    return value
