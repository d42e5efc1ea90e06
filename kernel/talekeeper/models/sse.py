"""Server-sent events out of bytes, however the network cut them (html.spec.whatwg.org, section 9.2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

EVENT_LIMIT = 1024 * 1024


class EventTooLong(ValueError):
    """An event of more than a mebibyte, or a line without an end."""


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
                raise EventTooLong
            data.append(value)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    begun: list[bytes] = []
    size = 0
    mark = b"\xef\xbb\xbf"  # may stand before the first line
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
                raise EventTooLong
