"""Puts an answer together from what an endpoint sends, whole or in deltas, with the liberties that endpoints take."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from talekeeper.models.chat import Reply, ToolCall, Usage
from talekeeper.models.plain import fit, is_array, is_object

REPLY_LIMIT = 1_000_000
"""Characters of text and tool arguments together; a model that writes more has lost its way."""

_MOST_TOKENS = 2**31 - 1


class ReplyTooLong(ValueError):
    """The answer has passed the limit."""


@dataclass
class _Call:
    key: object
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


class Assembly:
    """Fed with the payloads of one answer, in order.

    `begun` is True once anything of the model's own was in one, thoughts that are not shown included; `complete` once
    it said that it had finished.
    """

    def __init__(self) -> None:
        self.begun = False
        self.complete = False
        self._texts: list[str] = []
        self._calls: list[_Call] = []
        self._finish = ""
        self._usage: Usage | None = None
        self._model = ""
        self._size = 0
        self._half = ""  # half of a surrogate pair, when the endpoint cut a character in two

    def feed(self, payload: dict[str, Any]) -> str:
        """Takes one payload, of either form, and gives the text that is new; raises `ReplyTooLong`."""
        self._model = self._model or _text(payload.get("model"))
        self._usage = _usage(payload.get("usage")) or self._usage
        choice = _first(payload.get("choices"))
        delta = choice.get("delta", choice.get("message"))
        text = self._take(delta) if is_object(delta) else ""
        finish = _text(choice.get("finish_reason"))
        if finish:
            self.begun = self.complete = True
            self._finish = finish
        return text

    def end(self) -> str:
        """Text that was held back because it began with half a character."""
        half, self._half = fit(self._half), ""
        self._texts.append(half)
        return half

    def reply(self) -> Reply:
        """The answer as far as it has come."""
        calls = tuple(
            ToolCall(call.id or f"call_{number}", call.name, fit("".join(call.arguments)))
            for number, call in enumerate(self._calls, start=1)
        )
        finish = self._finish or ("tool_calls" if calls else "stop")
        return Reply("".join(self._texts), calls, finish, self._usage, self._model)

    def _take(self, delta: dict[str, Any]) -> str:
        raw = _content(delta.get("content"))
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        calls = [call for call in _list(delta.get("tool_calls")) if is_object(call)]
        self.begun = self.begun or bool(raw or thought or calls)
        self._grow(len(raw))
        for call in calls:
            self._take_call(call)
        raw = self._half + raw
        self._half = raw[-1] if raw and "\ud800" <= raw[-1] <= "\udbff" else ""
        text = fit(raw[: len(raw) - len(self._half)])
        self._texts.append(text)
        return text

    def _take_call(self, delta: dict[str, Any]) -> None:
        function = delta.get("function")
        details = function if is_object(function) else {}
        call = self._call_of(delta, _text(delta.get("id")))
        name = _text(details.get("name"))
        if not call.name:
            call.name = fit(name)
        arguments = details.get("arguments")
        if arguments is not None:
            written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            self._grow(len(written))
            call.arguments.append(written)

    def _call_of(self, delta: dict[str, Any], call_id: str) -> _Call:
        """The call a delta belongs to: by its index, unless that came with another id; without one, by its id."""
        index = delta.get("index")
        last = self._calls[-1] if self._calls else None
        if index is None:
            known = last if not call_id or (last and last.id == call_id) else None
        else:
            known = next((call for call in reversed(self._calls) if call.key == index), None)
            if known and call_id and known.id and known.id != call_id:
                known = None
        if known is None:
            known = _Call(index)
            self._calls.append(known)
        known.id = known.id or fit(call_id)
        return known

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > REPLY_LIMIT:
            raise ReplyTooLong


def _usage(value: object) -> Usage | None:
    """None unless both are counts of tokens; a store keeps what fits in 32 bits, and no answer takes as many."""
    if not is_object(value):
        return None
    prompt, completion = value.get("prompt_tokens"), value.get("completion_tokens")
    return Usage(prompt, completion) if _is_count(prompt) and _is_count(completion) else None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _first(value: object) -> dict[str, Any]:
    first = value[0] if is_array(value) and value else None
    return first if is_object(first) else {}


def _content(value: object) -> str:
    """Text, or a list of parts of which those with a text count."""
    if isinstance(value, str):
        return value
    return "".join(_text(part.get("text")) for part in _list(value) if is_object(part))


def _list(value: object) -> list[Any]:
    return value if is_array(value) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
