"""What a scripted server answers to one request: steps, and functions that make the usual ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One answer. Made by the functions below; `with_` changes a copy.

    `text` is streamed in deltas of `piece` characters, the first after `wait` seconds and each next one `gap` later;
    `pings` comments that keep the connection alive come before it, `gap` apart as well. `calls` are (name, arguments
    as text) pairs. `keep` is how many deltas are sent before the connection is dropped, None for all of them. A `raw`
    body is sent as it is.
    """

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    finish: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw: bytes | None = None
    wait: float = 0.0
    gap: float = 0.0
    piece: int = 8
    keep: int | None = None
    pings: int = 0
    usage: bool = True
    key_in_text: bool = False

    def with_(self, **changes: Any) -> Step:
        """A copy with some fields changed."""
        return replace(self, **changes)


def say(text: str, *, wait: float = 0.0, gap: float = 0.0, piece: int = 8, finish: str = "stop") -> Step:
    """A text, slowly when `wait` or `gap` say so."""
    return Step(text, wait=wait, gap=gap, piece=piece, finish=finish)


def say_json(value: object) -> Step:
    """A JSON value as text, as a model answers that was given a schema."""
    return Step(json.dumps(value, ensure_ascii=False), finish="stop")


def call_tool(name: str, arguments: Mapping[str, Any] | str, *, text: str = "") -> Step:
    """A tool call, after some text if any; arguments given as a string are sent as they are, broken or not."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Step(text, calls=((name, written),), finish="tool_calls")


def fail(status: int, message: str = "scripted failure", *, code: str = "", retry_after: float | None = None) -> Step:
    """An HTTP error in the form OpenAI gives it."""
    headers = {"content-type": "application/json"}
    if retry_after is not None:
        headers["retry-after"] = f"{retry_after:g}"
    error = {"message": message, "type": "error", "code": code or None}
    return Step(status=status, headers=headers, raw=json.dumps({"error": error}).encode())


def overflow(context: int = 4096) -> Step:
    """The refusal of a prompt that is longer than the context."""
    message = f"This model's maximum context length is {context} tokens. Please reduce the length of the messages."
    return fail(400, message, code="context_length_exceeded")


def stop_short(text: str, after: int, *, piece: int = 8) -> Step:
    """A stream whose connection is dropped after so many deltas; 0: before the first."""
    return Step(text, keep=after, piece=piece, finish="stop")


def raw(body: bytes | str, content_type: str = "text/event-stream", *, status: int = 200, **headers: str) -> Step:
    """Any bytes at all."""
    all_headers = {"content-type": content_type} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Step(raw=body.encode() if isinstance(body, str) else body, status=status, headers=all_headers)


def echo_key(status: int = 401) -> Step:
    """What no endpoint should do: the request's key in the answer, in an error's message or in a text with 200."""
    return Step("Your key is ", status=status, key_in_text=True, finish="stop")
