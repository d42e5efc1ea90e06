"""Reads the answers of OpenAI-compatible endpoints: chats whole or streamed, vectors, lists of models."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

from talekeeper.models.chat import Reply, ToolCall, Usage
from talekeeper.models.lenient_json import read_json, storable_text
from talekeeper.text import NotJson, is_array, is_table

if TYPE_CHECKING:
    from talekeeper.models.http import Response
    from talekeeper.models.network import Watch

BODY_LIMIT = 64 * 1024 * 1024
"""Bytes. A batch of 64 vectors of 4,096 numbers, written out in full, has 5 million."""

ERROR_LIMIT = 64 * 1024
REPLY_LIMIT = 1_000_000
"""Characters of text and tool arguments together; a model that writes more has lost its way."""

_MOST_TOKENS = 2**31 - 1
EVENT_LIMIT = 1024 * 1024
_LONG_EVENT = "one event of the stream is larger than 1 MiB"


class Unusable(ValueError):
    """An answer that cannot be used; its text says why."""


class BrokeOff(ValueError):
    """A stream that ended before the model had."""


class ErrorPayload(ValueError):
    """An error inside an answer of status 200; `status` is the one it names, else 500."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body
        super().__init__(status)


def chat_texts(answer: Response, assembly: Assembly, watch: Watch) -> Iterator[str]:
    """Feeds `assembly` and yields the text as it comes; raises `Unusable`, `BrokeOff` or `ErrorPayload`."""
    is_stream = "text/event-stream" in answer.headers.get("content-type", "")
    yield from _streamed(answer, assembly, watch) if is_stream else _whole(answer, assembly, watch)
    if rest := assembly.end():
        yield rest


def json_body(answer: Response, watch: Watch) -> Any:
    """The value of a body that is one JSON text; raises `Unusable`."""
    kind = answer.headers.get("content-type", "")
    if "json" not in kind:
        raise Unusable(f"the answer is of type {kind or 'unknown'} and not JSON")
    body = _body(answer, watch, BODY_LIMIT + 1)
    if len(body) > BODY_LIMIT:
        raise Unusable(f"the answer has more than {BODY_LIMIT:,} bytes")
    try:
        return read_json(body.decode(errors="replace"))
    except NotJson as error:
        raise Unusable(f"the answer is not JSON: {error}") from None


def error_body(answer: Response, watch: Watch) -> bytes:
    """As much of an error's body as is worth reading."""
    return _body(answer, watch, ERROR_LIMIT)[:ERROR_LIMIT]


def vectors_in(value: Any, count: int, width: int = 0) -> list[list[float]]:
    """The `count` vectors of an embeddings answer in the order of the texts; raises `Unusable`.

    All have `width` numbers, or with 0 as many as the first.
    """
    data = _data(value)
    if len(data) != count:
        raise Unusable(f"the answer does not hold {count} vectors")
    found: dict[int, list[float]] = {}
    for place, entry in enumerate(data):
        item: dict[str, Any] = entry if is_table(entry) else {}
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
    names = [entry.get("id") if is_table(entry) else None for entry in _data(value)]
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


def _body(answer: Response, watch: Watch, enough: int) -> bytes:
    """The whole body, or its beginning of at least so many bytes."""
    body = bytearray()
    for chunk in answer.chunks:
        watch.enter("between")
        body += chunk
        if len(body) >= enough:
            break
    return bytes(body)


def _streamed(answer: Response, assembly: Assembly, watch: Watch) -> Iterator[str]:
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


def _whole(answer: Response, assembly: Assembly, watch: Watch) -> Iterator[str]:
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
    if not is_table(payload):
        raise Unusable("the answer is no JSON object")
    error = payload.get("error")
    if error:
        code = error.get("code") if is_table(error) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500  # noqa: PLR2004 -- as HTTP numbers them
        raise ErrorPayload(status, json.dumps({"error": error}).encode())
    return assembly.feed(payload)


def _data(value: Any) -> list[Any]:
    return _list(value.get("data")) if is_table(value) else []


def _vector(value: Any) -> list[float]:
    if not is_array(value) or not value:
        raise Unusable("a vector is missing")
    if not all(type(number) in (int, float) and math.isfinite(number) for number in value):
        raise Unusable("a vector holds something that is no finite number")
    return [float(number) for number in value]


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
        """Takes one payload, of either form, and gives the text that is new; raises `Unusable`."""
        self._model = self._model or _text(payload.get("model"))
        self._usage = _usage(payload.get("usage")) or self._usage
        choice = _first(payload.get("choices"))
        delta = choice.get("delta", choice.get("message"))
        text = self._take(delta) if is_table(delta) else ""
        finish = _text(choice.get("finish_reason"))
        if finish:
            self.begun = self.complete = True
            self._finish = finish
        return text

    def end(self) -> str:
        """Text that was held back because it began with half a character."""
        half, self._half = storable_text(self._half), ""
        self._texts.append(half)
        return half

    def reply(self) -> Reply:
        """The answer as far as it has come."""
        calls = tuple(
            ToolCall(call.id or f"call_{number}", call.name, storable_text("".join(call.arguments)))
            for number, call in enumerate(self._calls, start=1)
        )
        finish = self._finish or ("tool_calls" if calls else "stop")
        return Reply("".join(self._texts), calls, finish, self._usage, self._model)

    def _take(self, delta: dict[str, Any]) -> str:
        raw = _content(delta.get("content"))
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        calls = [call for call in _list(delta.get("tool_calls")) if is_table(call)]
        self.begun = self.begun or bool(raw or thought or calls)
        self._grow(len(raw))
        for call in calls:
            self._take_call(call)
        raw = self._half + raw
        self._half = raw[-1] if raw and "\ud800" <= raw[-1] <= "\udbff" else ""
        text = storable_text(raw[: len(raw) - len(self._half)])
        self._texts.append(text)
        return text

    def _take_call(self, delta: dict[str, Any]) -> None:
        function = delta.get("function")
        details = function if is_table(function) else {}
        call = self._call_of(delta, _text(delta.get("id")))
        name = _text(details.get("name"))
        if not call.name:
            call.name = storable_text(name)
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
        known.id = known.id or storable_text(call_id)
        return known

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > REPLY_LIMIT:
            raise Unusable(f"the answer has more than {REPLY_LIMIT:,} characters")


def _usage(value: object) -> Usage | None:
    """None unless both are counts of tokens; a store keeps what fits in 32 bits, and no answer takes as many."""
    if not is_table(value):
        return None
    prompt, completion = value.get("prompt_tokens"), value.get("completion_tokens")
    return Usage(prompt, completion) if _is_count(prompt) and _is_count(completion) else None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _first(value: object) -> dict[str, Any]:
    first = value[0] if is_array(value) and value else None
    return first if is_table(first) else {}


def _content(value: object) -> str:
    """Text, or a list of parts of which those with a text count."""
    if isinstance(value, str):
        return value
    return "".join(_text(part.get("text")) for part in _list(value) if is_table(part))


def _list(value: object) -> list[Any]:
    return value if is_array(value) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of each event. Comments, names and ids are dropped, and an event cut off at the end with them.

    A line ends with CR, LF or both and with nothing else; several data lines of one event are joined by LF.
    """
    data: list[bytes] = []
    size = 0
    for line in _lines(chunks):
        if not line:
            if data:
                yield b"\n".join(data).decode(errors="replace")
            data, size = [], 0
        elif line.startswith(b"data:") or line == b"data":
            value = line[5:].removeprefix(b" ")
            size += len(value)
            if size > EVENT_LIMIT:
                raise Unusable(_LONG_EVENT)
            data.append(value)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    begun: list[bytes] = []
    size = 0
    mark = b"\xef\xbb\xbf"  # may precede the first line
    after_cr = False
    for chunk in chunks:
        text = chunk.removeprefix(b"\n") if after_cr else chunk
        after_cr = chunk.endswith(b"\r") or (after_cr and not chunk)
        for place, part in enumerate(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")):
            if place:
                yield b"".join(begun).removeprefix(mark)
                begun, size, mark = [], 0, b""
            begun.append(part)
            size += len(part)
            if size > EVENT_LIMIT:
                raise Unusable(_LONG_EVENT)
