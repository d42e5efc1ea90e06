"""Whatever a person names to be read is read, or is one sentence; nothing waits for ever."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.errors import ImportFileError
from talekeeper.exchange import opened, read_text, source

Make = Callable[[Path], object]


def read(name: str) -> bytes:
    with opened(name) as stream:
        first = stream.read()
        stream.seek(0)
        assert stream.read() == first
    return first


def refusal(name: str) -> str:
    with pytest.raises(ImportFileError) as refused, opened(name):
        pass
    return str(refused.value)


def bound(path: Path) -> None:
    # The name of a socket has to be short, wherever the tests lie.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


KINDS: dict[str, tuple[Make, str]] = {
    "folder": (Path.mkdir, "it is a folder; name the files in it"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "it is a device; name a file, or -"),
    "socket": (bound, "it is a socket; name a file, or -"),
    "absent": (lambda _: None, "no such file or directory; look at how it is written"),
    "circle": (lambda path: path.symlink_to(path), "too many levels of symbolic links"),
    "pipe": (os.mkfifo, "it is a pipe into which nobody writes; start what writes into it first"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(source, "_WRITER_MS", 20)
    path = tmp_path / "x"
    make, says = KINDS[kind]
    make(path)

    sentence = refusal(str(path))

    assert sentence.startswith(f"{path}: {says}")
    assert "\n" not in sentence


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000])
def test_what_can_be_no_name_is_one_sentence(name: str) -> None:
    assert refusal(name)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
@pytest.mark.parametrize("size", [0, 5, 1_000_000])
def test_a_pipe_that_a_shell_made_is_read_whole(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(source, "_SPOOL", 1000)
    out, into = os.pipe()
    writer = threading.Thread(target=_say, args=(into, b"x" * size))
    writer.start()

    content = read(f"/dev/fd/{out}")

    writer.join()
    os.close(out)
    assert content == b"x" * size


def _say(into: int, content: bytes) -> None:
    with os.fdopen(into, "wb") as pipe:
        pipe.write(content)


def test_a_named_pipe_is_read_once_somebody_writes(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"hello",))
    writer.start()

    content = read(str(path))

    writer.join()
    assert content == b"hello"


def test_a_writer_that_takes_its_time_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_WRITER_MS", 1)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)
    threading.Timer(0.05, _say, args=(writer, b"late")).start()

    content = read(str(path))

    os.close(reader)
    assert content == b"late"


@pytest.mark.parametrize(
    ("raw", "says"), [(b"{\n\xff", "x:2: not UTF-8 at byte 3 of the file"), (b"\x80", "x:1: not UTF-8 at byte 1")]
)
def test_text_that_is_not_utf8_names_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x").write_bytes(raw)

    with pytest.raises(ImportFileError, match=says):
        read_text("x")
