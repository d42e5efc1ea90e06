"""What `talekeeper play` shows: text as it comes for people, or one JSON object per event on a line of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from talekeeper.cli import output
from talekeeper.cli.faults import fault_json
from talekeeper.cli.terminal import PROGRAM, remark
from talekeeper.errors import TalekeeperError


class Stage:
    """`failed` says whether anything went wrong so far."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.failed = False
        self._open = False
        self._pieces: list[str] = []

    def tell(self, event: str, data: Mapping[str, Any], show: Callable[[], object] | None = None) -> None:
        """Prints the event as JSON, or has it shown."""
        self.end_line()
        if self.as_json:
            output.emit_line({"event": event, **data})
        elif show is not None:
            show()

    def piece(self, text: str) -> None:
        """A piece of narration as the model gives it."""
        self._pieces.append(text)
        if self.as_json:
            output.emit_line({"event": "text", "text": text})
            return
        shown = output.clean(text)
        click.echo(shown, nl=False)
        self._open = bool(shown) and not shown.endswith("\n") if shown else self._open

    def pieces(self) -> str:
        """All pieces since this was asked last."""
        shown, self._pieces = "".join(self._pieces), []
        return shown

    def end_line(self) -> None:
        """What comes next begins a line, wherever the narration stopped."""
        if self._open:
            self._open = False
            click.echo()

    def note(self, text: str) -> None:
        """A remark beside the story."""
        self.tell("note", {"text": text}, lambda: output.note(text))

    def fault(self, error: TalekeeperError) -> None:
        """What went wrong; the play goes on."""
        self.failed = True
        self.end_line()
        remark(f"{PROGRAM}: {output.clean(str(error))}")
        if self.as_json:
            output.emit_line({"event": "error", "error": fault_json(error)})
