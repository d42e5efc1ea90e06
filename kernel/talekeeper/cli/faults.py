"""What ends a command early, or is logged meanwhile: the sentence for people, the JSON for programs, the exit code."""

from __future__ import annotations

import errno
import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import Any

import click

from talekeeper.cli.terminal import PROGRAM, json_text, remark
from talekeeper.errors import ParameterError, TalekeeperError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells give it: 128 and the number of the signal."""


def report(fault: Exception, voice: Voice, *, as_json: bool = False) -> int:
    """Says what went wrong on stderr, and with `as_json` as one object on stdout too; gives the exit code."""
    sentence, code = _explained(fault)
    # Somebody who cannot be told is told by the exit code.
    with suppress(OSError):
        if isinstance(fault, click.ClickException):
            fault.show()
        else:
            voice.say(sentence)
        if as_json:
            click.echo(json_text({"error": fault_json(fault)}))
    return code


def fault_json(fault: Exception) -> dict[str, Any]:
    """The object that stands for it in JSON."""
    sentence, code = _explained(fault)
    parts = {"what": sentence, "where": "", "cure": ""}
    if isinstance(fault, TalekeeperError):
        parts = {"what": fault.what, "where": fault.where, "cure": fault.cure}
    return {"kind": type(fault).__name__, "message": sentence, **parts, "exit_code": code}


def misused(fault: ParameterError, ctx: click.Context) -> click.UsageError:
    """The fault of a parameter under the name it has on this command line, as click tells of those it finds itself."""
    told = f"{fault.what}; {fault.cure}" if fault.cure else fault.what
    given = next((param for param in ctx.command.params if param.name == fault.field), None)
    return click.BadParameter(told, ctx, given, param_hint=None if given else fault.field)


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether `--json` is among the options. Read off the words, for they may be what cannot be parsed."""
    return "--json" in takewhile(lambda word: word != "--", arguments)


def is_bug(fault: Exception) -> bool:
    """Whether nothing a person did explains it."""
    return not isinstance(fault, TalekeeperError | OSError | click.Abort | click.ClickException)


def _explained(fault: Exception) -> tuple[str, int]:
    """The sentence, and the exit code."""
    if isinstance(fault, TalekeeperError):
        return str(fault), fault.exit_code
    if isinstance(fault, click.ClickException):
        return fault.format_message(), fault.exit_code
    if isinstance(fault, click.Abort):
        return "interrupted; finished work is kept", INTERRUPTED
    if isinstance(fault, OSError):
        # Whoever writes a file tells its name; what has none is a stream.
        where = fault.filename or "what is printed"
        cure = "; make room there and try again" if fault.errno in _NO_ROOM else ""
        return f"{where}: {(fault.strerror or str(fault)).lower()}{cure}", 2
    return f"unexpected {type(fault).__name__}: {fault}; this is a bug, TALEKEEPER_STRICT=1 shows where", 2


class Voice(logging.Handler):
    """Says warnings and errors on stderr as the program's own words, and each sentence once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    @contextmanager
    def of_the_program(self) -> Generator[None]:
        """Hears every logger meanwhile."""
        root = logging.getLogger()
        root.addHandler(self)
        try:
            yield
        finally:
            root.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Says what a room below warns of."""
        self.say(record.getMessage())

    def say(self, sentence: str) -> None:
        """Says one sentence, unless it was said before: a plugin's fault is logged and then ends the command."""
        if sentence not in self._said:
            self._said.add(sentence)
            remark(f"{PROGRAM}: {sentence}")
