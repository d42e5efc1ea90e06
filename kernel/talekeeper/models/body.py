"""The JSON an OpenAI-compatible endpoint is sent for a request and a slot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from talekeeper.models.chat import ChatMessage, Request, ToolOffer
from talekeeper.models.settings import Slot

RESERVED = frozenset({"messages", "model", "n", "response_format", "stream", "stream_options", "tool_choice", "tools"})
"""What `sampling` may not hold: the kernel says it itself."""

_BY_WORDS = "Answer with one JSON object that follows this JSON Schema, and with nothing else:\n"


def sampling_fault(sampling: Mapping[str, Any]) -> str:
    """Why these cannot go into a request as they are, behind the name of their table; empty when they can."""
    for key in sampling:
        if key in RESERVED:
            return f"may not hold {key!r}, which is said by other means"
    try:
        json.dumps(sampling, allow_nan=False)
    except (TypeError, ValueError):
        return "may hold only what JSON has: no dates, no nan or inf"
    return ""


def chat_body(request: Request, slot: Slot, model: str) -> bytes:
    """The body of `/chat/completions`; strings a model cannot be sent are replaced character by character."""
    body: dict[str, Any] = {key: value for key, value in slot.sampling.items() if key not in RESERVED}
    body |= {key: value for key, value in request.sampling.items() if key not in RESERVED}
    messages = [_message(message) for message in request.messages]
    if request.schema is not None and slot.json != "schema":
        _append(messages, _BY_WORDS + json.dumps(request.schema, ensure_ascii=False, default=_plain))
    body |= {"model": model, "messages": messages, slot.reply_parameter: request.reply or slot.reply}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.schema is not None and slot.json != "prompt":
        body["response_format"] = _response_format(request, slot)
    if slot.stream:
        body["stream"] = True
        if slot.usage:
            body["stream_options"] = {"include_usage": True}
    return encoded(body)


def embeddings_body(texts: Sequence[str], model: str) -> bytes:
    """The body of `/embeddings`."""
    return encoded({"model": model, "input": list(texts), "encoding_format": "float"})


def encoded(body: Mapping[str, Any]) -> bytes:
    """UTF-8; half a surrogate pair becomes a question mark, because it has no UTF-8."""
    return json.dumps(body, ensure_ascii=False, default=_plain).encode("utf-8", "replace")


def _plain(value: object) -> object:
    """Schemas may come frozen."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")


def _message(message: ChatMessage) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        written["content"] = message.content or None
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        written["tool_call_id"] = message.answers
    return written


def _tool(tool: ToolOffer) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _response_format(request: Request, slot: Slot) -> dict[str, Any]:
    if slot.json == "object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": request.schema_name, "schema": request.schema}}


def _append(messages: list[dict[str, Any]], text: str) -> None:
    """Adds to the last message when it is the user's: many chat templates want the roles to take turns."""
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"] += "\n\n" + text
    else:
        messages.append({"role": "user", "content": text})
