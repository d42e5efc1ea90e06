"""Reads what endpoints answer: chats whole or streamed, vectors, lists of models. Trusts nothing of it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from talekeeper.models.assemble import REPLY_LIMIT, Assembly, ReplyTooLong
from talekeeper.models.plain import NotJson, is_array, is_object, read_json
from talekeeper.models.sse import EventTooLong, events
from talekeeper.models.transport import Answer
from talekeeper.models.watch import Watch

BODY_LIMIT = 64 * 1024 * 1024
"""Bytes. A batch of 64 vectors of 4,096 numbers, written out in full, has 5 million."""

ERROR_LIMIT = 64 * 1024


class Unusable(ValueError):
    """An answer that is not what was asked for; its text says in what way."""


class BrokeOff(ValueError):
    """A stream that ended before the model had."""


class ToldFault(ValueError):
    """A fault told in an answer with status 200; `status` is the one it names, else 500."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body
        super().__init__(status)


def chat_texts(answer: Answer, assembly: Assembly, watch: Watch) -> Iterator[str]:
    """Feeds `assembly` and yields the text as it comes; raises `Unusable`, `BrokeOff` or `ToldFault`."""
    try:
        yield from _streamed(answer, assembly, watch) if _is_stream(answer) else _whole(answer, assembly, watch)
    except EventTooLong:
        raise Unusable("one event of the stream is larger than 1 MiB") from None
    except ReplyTooLong:
        raise Unusable(f"the answer has more than {REPLY_LIMIT:,} characters") from None
    if rest := assembly.end():
        yield rest


def json_body(answer: Answer, watch: Watch) -> Any:
    """The value of a body that is one JSON text; raises `Unusable`."""
    kind = answer.headers.get("content-type", "")
    if "json" not in kind:
        raise Unusable(f"the answer is of type {kind or 'unknown'} and not JSON")
    try:
        return read_json(body_of(answer, watch, BODY_LIMIT).decode(errors="replace"))
    except NotJson as error:
        raise Unusable(f"the answer is not JSON: {error}") from None


def body_of(answer: Answer, watch: Watch, limit: int) -> bytes:
    """The whole body; raises `Unusable` when it has more than `limit` bytes."""
    body = bytearray()
    for chunk in answer.chunks:
        watch.enter("between")
        body += chunk
        if len(body) > limit:
            raise Unusable(f"the answer has more than {limit:,} bytes")
    return bytes(body)


def error_body(answer: Answer, watch: Watch) -> bytes:
    """As much of an error's body as is worth reading."""
    body = bytearray()
    for chunk in answer.chunks:
        watch.enter("between")
        body += chunk
        if len(body) >= ERROR_LIMIT:
            break
    return bytes(body[:ERROR_LIMIT])


def vectors_in(value: Any, count: int, width: int = 0) -> list[list[float]]:
    """The `count` vectors of an embeddings answer in the order of the texts; raises `Unusable`.

    All have `width` numbers, or with 0 as many as the first.
    """
    data = value.get("data") if is_object(value) else None
    if not is_array(data) or len(data) != count:
        raise Unusable(f"the answer does not hold {count} vectors")
    found: dict[int, list[float]] = {}
    for place, entry in enumerate(data):
        item: dict[str, Any] = entry if is_object(entry) else {}
        index = item.get("index", place)
        if not isinstance(index, int) or not 0 <= index < count or index in found:
            raise Unusable("the vectors are not numbered one by one")
        found[index] = _vector(item.get("embedding"))
    vectors = [found[index] for index in range(count)]
    if any(len(vector) != (width or len(vectors[0])) for vector in vectors):
        raise Unusable("the vectors differ in length")
    return vectors


def model_names(value: Any) -> list[str]:
    """The names in an answer of `/models`; raises `Unusable` when it is no list with at least one."""
    data = value.get("data") if is_object(value) else None
    entries = data if is_array(data) else []
    names = [entry.get("id") if is_object(entry) else None for entry in entries]
    known = [name for name in names if isinstance(name, str) and name and name.isprintable()]
    if not known or len(known) != len(names):
        raise Unusable("the answer is no list of models")
    return known


def pick_model(value: Any, *, embedding: bool) -> str:
    """The first listed name that looks like an embedding model, or like none; raises `Unusable` when none does."""
    names = model_names(value)
    for name in names:
        if ("embed" in name.lower()) == embedding:
            return name
    kind = "embedding model" if embedding else "model that writes"
    raise Unusable(f"the endpoint lists no {kind}, only {', '.join(names[:5])}")


def _is_stream(answer: Answer) -> bool:
    return "text/event-stream" in answer.headers.get("content-type", "")


def _streamed(answer: Answer, assembly: Assembly, watch: Watch) -> Iterator[str]:
    done = False
    for data in events(answer.chunks):
        watch.slice()  # what has arrived already is not read past a cancellation
        if data.strip() == "[DONE]":
            done = True
            break
        text = _fed(_payload(data), assembly)
        if assembly.begun:
            watch.delivered = True
            watch.enter("between")
        if text:
            yield text
            watch.enter("between")  # the time the reader of the pieces took does not count
    if not (assembly.complete or (done and assembly.begun)):
        raise BrokeOff("the answer broke off" if assembly.begun else "the answer ended before it began")


def _whole(answer: Answer, assembly: Assembly, watch: Watch) -> Iterator[str]:
    text = _fed(json_body(answer, watch), assembly)
    if not assembly.begun:
        raise Unusable("the answer holds no message")
    if text:
        yield text


def _payload(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Unusable("an event of the stream is not JSON") from None


def _fed(payload: Any, assembly: Assembly) -> str:
    if not is_object(payload):
        raise Unusable("the answer is no JSON object")
    error = payload.get("error")
    if error:
        code = error.get("code") if is_object(error) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500  # noqa: PLR2004 -- as HTTP numbers them
        raise ToldFault(status, json.dumps({"error": error}).encode())
    return assembly.feed(payload)


def _vector(value: Any) -> list[float]:
    if not is_array(value) or not value:
        raise Unusable("a vector is missing")
    if not all(type(number) in (int, float) and math.isfinite(number) for number in value):
        raise Unusable("a vector holds something that is no finite number")
    return [float(number) for number in value]
