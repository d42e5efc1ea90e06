"""The JSON of OpenAI's chat answers, whole and in deltas, for a step of a script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from talekeeper.testing.openai_steps import Step


def completion(step: Step, model: str) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = [_call(number, *call) for number, call in enumerate(step.calls)]
    answer = {"id": "chat-1", "object": "chat.completion", "model": model}
    return answer | {"choices": [{"index": 0, "message": message, "finish_reason": step.finish}], "usage": _usage(step)}


def stream_events(step: Step, request: Mapping[str, Any]) -> Iterator[str]:
    """The data of each event: text in deltas, the calls cut in two, the finish, the usage if asked for, `[DONE]`."""
    head = {"id": "chat-1", "object": "chat.completion.chunk", "model": request.get("model", "")}
    for start in range(0, len(step.text), step.piece):
        yield _chunk(head, {"content": step.text[start : start + step.piece]})
    for number, (name, arguments) in enumerate(step.calls):
        middle = len(arguments) // 2
        whole = _call(number, name, arguments[:middle])
        yield _chunk(head, {"tool_calls": [{"index": number, **whole}]})
        yield _chunk(head, {"tool_calls": [{"index": number, "function": {"arguments": arguments[middle:]}}]})
    yield _chunk(head, {}, step.finish)
    options: Mapping[str, Any] = request.get("stream_options") or {}
    if step.usage and options.get("include_usage"):
        yield json.dumps(head | {"choices": [], "usage": _usage(step)})
    yield "[DONE]"


def _chunk(head: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None) -> str:
    return json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _call(number: int, name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def _usage(step: Step) -> dict[str, int]:
    words = len(step.text.split())
    return {"prompt_tokens": 10, "completion_tokens": words, "total_tokens": 10 + words}
