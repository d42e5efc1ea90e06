"""The tool memory-search as models are offered it: its name, description and parameters, and the check of a call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from talekeeper.errors import ParameterError
from talekeeper.text import check_text, freeze

_KINDS = {
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "str": "text",
    "dict": "an object",
    "list": "a list",
}

MEMORY_SEARCH: Mapping[str, Any] = freeze(json.loads(Path(__file__).with_name("tool.json").read_text(encoding="utf-8")))
_PROPERTIES: Mapping[str, Any] = MEMORY_SEARCH["parameters"]["properties"]
MAX_LIMIT: int = _PROPERTIES["limit"]["maximum"]
DEFAULT_LIMIT: int = _PROPERTIES["limit"]["default"]
SEARCH_SCOPES: tuple[str, ...] = tuple(_PROPERTIES["scope"]["enum"])


@dataclass(frozen=True, slots=True)
class Question:
    """A checked call; `texts` are the query and its other wordings, at least one of them."""

    texts: tuple[str, ...]
    scope: str = "all"
    sources: tuple[str, ...] = ()
    turn_from: int | None = None
    turn_to: int | None = None
    limit: int = DEFAULT_LIMIT


def read_question(arguments: Mapping[str, Any]) -> Question:
    """Checks what a model, a plugin or a person gave; a parameter that is null counts as left out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in _PROPERTIES:
            raise ParameterError(str(name), "there is no such parameter", cure=f"use {', '.join(_PROPERTIES)}")
    texts = [_text(given["query"], "query")] if "query" in given else []
    texts += _texts(given.get("wordings", ()), "wordings")
    if not texts:
        raise ParameterError("query", "neither query nor wordings is given", cure="say what you want to know")
    question = Question(
        texts=tuple(dict.fromkeys(texts)),
        scope=_scope(given.get("scope", "all")),
        sources=tuple(dict.fromkeys(map(_source, _texts(given.get("sources", ()), "sources")))),
        turn_from=_whole(given.get("turn_from"), "turn_from", 0),
        turn_to=_whole(given.get("turn_to"), "turn_to", 0),
        limit=_whole(given.get("limit"), "limit", 1, MAX_LIMIT) or DEFAULT_LIMIT,
    )
    if question.turn_from is not None and question.turn_to is not None and question.turn_from > question.turn_to:
        raise ParameterError(
            "turn_to", f"it is {question.turn_to}, before the first turn asked for, {question.turn_from}"
        )
    return question


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise ParameterError(field, f"it is text, not {_kind(value)}")
    check_text(value, field)
    if not value.strip():
        raise ParameterError(field, "it is empty", cure="name people, places and things")
    most = _PROPERTIES["query"]["maxLength"]
    if len(value) > most:
        raise ParameterError(field, f"it has {len(value):,} characters, at most {most:,} are taken", cure="shorten it")
    return value


def _texts(value: object, field: str) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ParameterError(field, f"it is a list of texts, not {_kind(value)}")
    items, most = cast("Sequence[object]", value), _PROPERTIES[field]["maxItems"]
    if len(items) > most:
        raise ParameterError(field, f"it has {len(items)} entries, at most {most} are taken")
    return [_text(item, field) for item in items]


def _source(name: str) -> str:
    """The name alone of what may be written as results are printed: `archival:plugin_data memory/cards`."""
    return name.rsplit(maxsplit=1)[-1]


def _scope(value: object) -> str:
    if value not in SEARCH_SCOPES:
        raise ParameterError("scope", f"it is one of {', '.join(SEARCH_SCOPES)}")
    return str(value)


def _whole(value: object, field: str, least: int, most: int = 2**31 - 1) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(field, f"it is a whole number, not {_kind(value)}")
    if not least <= value <= most:
        raise ParameterError(field, f"it lies between {least} and {most:,}, {value} does not")
    return value


def _kind(value: object) -> str:
    name = type(value).__name__
    return _KINDS.get(name, name)
