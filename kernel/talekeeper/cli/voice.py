"""What the rooms below log, said on stderr."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

from talekeeper.cli.terminal import PROGRAM, remark


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
