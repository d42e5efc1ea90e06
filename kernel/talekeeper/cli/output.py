"""What commands print: JSON, text made safe for a terminal, tables, marked words, and progress."""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from itertools import count, zip_longest
from typing import Any, cast

import click

from talekeeper.cli.terminal import json_text, remark
from talekeeper.text import counted, terminal_line, terminal_text

# A bar that is gone within a second is noise.
_QUIET_SECONDS = 1.0
# Lines longer than this are hard to read, shorter ones are no help.
_BROADEST = 100
_NARROWEST = 20
_NARROWEST_COLUMN = 10
_GAP = "  "
# A line may break after blanks and between characters of scripts that do without them. Compiled when first used: 5 ms.
_PIECE = r"[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7a3]*\s*|."
_WIDE = frozenset("WF")


def emit(value: object) -> None:
    """Prints one JSON document. Dataclasses become objects, paths and everything else unknown become text."""
    click.echo(json_text(value, _plain))


def emit_line(value: object) -> None:
    """Prints one JSON document on one line."""
    click.echo(json_text(value, _plain, indent=None))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    return list(cast("Iterable[object]", value)) if isinstance(value, Iterable) else str(value)


def say(text: str = "", *, dim: bool = False, bold: bool = False, colour: str | None = None) -> None:
    """Prints one cleaned text; styles show on a terminal only."""
    # To a terminal "not dim" is the same word as "not bold", so what is not wanted is not said.
    click.secho(terminal_text(text), dim=dim or None, bold=bold or None, fg=colour)


def note(text: str) -> None:
    """A remark beside the answer: on stderr, so that pipes get the answer alone."""
    remark(terminal_text(text))


def sized(number: int) -> str:
    """`812 bytes`, `3.4 kB`, `12.0 MB`: a size in the largest unit of which there is one."""
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if number >= one:
            return f"{number / one:,.1f} {unit}"
    return counted(number, "byte")


def titled(name: str, title: str) -> str:
    """What became of something that was given a title."""
    return f"{name} is now called {title!r}" if title else f"{name} has no title now"


def _columns() -> int:
    import shutil  # noqa: PLC0415 - brings archivers, and is for terminals alone

    return shutil.get_terminal_size().columns


def width(text: str) -> int:
    """Columns `text` takes in a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in _WIDE else 1 for c in text)


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, right: Collection[int] = (), indent: int = 0
) -> None:
    """Prints columns as wide as their cells; the columns numbered in `right` are set to the right.

    On a terminal that is narrower, the other columns are folded.
    """
    cells = [[terminal_line(str(cell)) for cell in row] for row in rows]
    widths = [max(width(row[i]) for row in [list(headers), *cells]) for i in range(len(headers))]
    if sys.stdout.isatty():
        widths = _fitted(widths, _columns() - indent, right)
    margin = " " * indent
    for number, row in enumerate([list(headers), *cells]):
        folded = [_folded(cell, widths[i]) for i, cell in enumerate(row)]
        for parts in zip_longest(*folded, fillvalue=""):
            text = margin + _row(parts, widths, right)
            click.echo(text if number else click.style(text, bold=True))


def _fitted(widths: Sequence[int], room: int, right: Collection[int]) -> list[int]:
    """The widths, the widest made narrower until all have room or none can give any more.

    The first column, by which a row is named, gives last.
    """
    fitted = list(widths)
    while sum(fitted) + len(_GAP) * (len(fitted) - 1) > room:
        giving = [i for i, one in enumerate(fitted) if i not in right and one > _NARROWEST_COLUMN]
        if not giving:
            break
        fitted[max(giving, key=lambda i: (i > 0, fitted[i]))] -= 1
    return fitted


def _row(cells: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    padded: list[str] = []
    for i, cell in enumerate(cells):
        space = " " * (widths[i] - width(cell))
        padded.append(space + cell if i in right else cell + space)
    return _GAP.join(padded).rstrip()


def wrap(text: str, indent: int = 0) -> list[str]:
    """`text` cleaned, in lines that fit a terminal less `indent`; as one line where nobody looks."""
    if not sys.stdout.isatty():
        return [terminal_line(text)]
    room = max(_NARROWEST, min(_columns(), _BROADEST) - indent)
    return [folded for paragraph in terminal_text(text).splitlines() for folded in _folded(paragraph, room)]


def _folded(text: str, room: int) -> list[str]:
    """One line of text in lines that fit; a word that does not is broken where it must be."""
    lines: list[str] = []
    current = ""
    for whole in re.findall(_PIECE, text):
        for piece in _broken(whole, room) if width(whole.rstrip()) > room else (whole,):
            if current and width(current + piece.rstrip()) > room:
                lines.append(current.rstrip())
                current = ""
            current += piece
    return [*lines, current.rstrip()]


def _broken(word: str, room: int) -> Generator[str, None, None]:
    start = used = 0
    for place, character in enumerate(word):
        columns = width(character)
        if place > start and used + columns > room:
            yield word[start:place]
            start, used = place, 0
        used += columns
    yield word[start:]


def mark(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` cleaned, with the stretches `spans` (start, end; sorted, apart) in bold."""
    parts: list[str] = []
    last = 0
    for start, end in spans:
        parts += [terminal_text(text[last:start]), click.style(terminal_text(text[start:end]), bold=True, fg="yellow")]
        last = end
    return "".join([*parts, terminal_text(text[last:])])


@contextmanager
def progress(label: str, total: int | None) -> Generator[Callable[[int], None], None, None]:
    """Gives a function that is told how much has been done in all; without a `total` the bar shows how much that is.

    Draws a bar on stderr when that is a terminal and the work is older than a second; otherwise nothing.
    """
    shown = sys.stderr.isatty() and total != 0
    since = time.monotonic()
    bar: Any = None

    def reach(done: int) -> None:
        nonlocal bar
        if not shown or (bar is None and time.monotonic() - since < _QUIET_SECONDS):
            return
        if bar is None:
            # click wants something to go through where it has no length; it is never gone through.
            steps = count() if total is None else None
            bar = click.progressbar(steps, total, label, show_pos=total is None, file=sys.stderr)
            bar.render_progress()
        bar.update(max(0, done - bar.pos))

    try:
        yield reach
    finally:
        if bar is not None:
            bar.render_finish()
