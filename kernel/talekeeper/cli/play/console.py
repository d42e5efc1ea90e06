"""The terminal of `talekeeper play`: lines in, text or JSON events out, and what Ctrl-C does."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import click

from talekeeper.cli import output
from talekeeper.cli.faults import fault_json
from talekeeper.cli.terminal import PROGRAM, remark
from talekeeper.errors import ParameterError, TalekeeperError
from talekeeper.text import terminal_text

PROMPT = "> "
_GOES_ON = "\\"


class Lines:
    """Lines a person gives, one that ends in a backslash with the next.

    `complete` proposes whole lines for the beginning of one. `origin` is that of the newest line, where it is known.
    """

    def __init__(self, *, quiet: bool, complete: Callable[[str], Sequence[str]]) -> None:
        self.interactive = sys.stdin.isatty() and not quiet
        self.origin = "typed" if sys.stdin.isatty() else ""
        if self.interactive:
            _edit_lines(complete)

    def read(self) -> str | None:
        """The next line, None when there is none; raises `KeyboardInterrupt` for Ctrl-C at a prompt."""
        said = self._line(PROMPT)
        if self.interactive:
            # Nobody can type a line break into a line; a terminal that marks what is pasted into it lets one through.
            self.origin = "pasted" if said is not None and "\n" in said else "typed"
        while said is not None and said.endswith(_GOES_ON):
            more = self._line("… ")
            said = said.removesuffix(_GOES_ON) + ("" if more is None else f"\n{more}")
        return said

    def confirm(self, question: str, *, otherwise: bool) -> bool:
        """Asks for yes or no; `otherwise` is what an empty line means, and no what the end of the input means."""
        said = self._line(f"{question} [{'Y/n' if otherwise else 'y/N'}] ")
        if said is None:
            return False
        return said.strip().lower() in {"y", "yes"} or (otherwise and not said.strip())

    def _line(self, prompt: str) -> str | None:
        try:
            if self.interactive:
                return input(prompt)
            line = sys.stdin.readline()
        except EOFError:
            remark("")
            return None
        except UnicodeDecodeError as fault:
            cure = "pipe in UTF-8"
            raise ParameterError("stdin", f"the input is not {fault.encoding}", cure=cure) from fault
        return line.rstrip("\r\n") if line else None


def _edit_lines(complete: Callable[[str], Sequence[str]]) -> None:
    """Arrow keys, a history of this run and Tab, where Python was built with readline."""
    try:
        readline: Any = import_module("readline")
    except ImportError:
        return

    def completer(_: str, state: int) -> str | None:
        found = complete(readline.get_line_buffer())
        return found[state] if state < len(found) else None

    readline.set_completer_delims("")
    readline.set_completer(completer)
    of_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if of_libedit else "tab: complete")


class Interrupt:
    """Ctrl-C while a turn is told: the first asks for its end, a second one ends the program.

    While `asking`, when a question waits for its answer, the first is a `KeyboardInterrupt` too.
    """

    def __init__(self) -> None:
        self.cancel = threading.Event()
        self.asking = False

    def __call__(self, number: int, frame: FrameType | None, /) -> None:
        """As the signal's handler."""
        del number, frame
        again = self.cancel.is_set()
        self.cancel.set()
        if again or self.asking:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Generator[Interrupt]:
    """Takes Ctrl-C meanwhile; in any but the main thread, where no signal comes, nothing does."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)


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
        shown = terminal_text(text)
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
        remark(f"{PROGRAM}: {terminal_text(str(error))}")
        if self.as_json:
            output.emit_line({"event": "error", "error": fault_json(error)})
