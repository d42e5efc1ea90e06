"""What came of checking the targets of `validate-plugin`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from talekeeper.manifest.check import Checked
from talekeeper.manifest.codes.file import UNREADABLE
from talekeeper.manifest.diagnostic import Code, Diagnostic, whole_file
from talekeeper.text import visible


class Examined(NamedTuple):
    """One manifest of a target, or a file that should have led to one.

    `root` is the manifest's folder and `package` its import name, as far as there are any.
    """

    file: str
    checked: Checked
    root: Path | None = None
    package: str = ""


class Report(NamedTuple):
    """Everything about one target."""

    target: str
    examined: list[Examined]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Those of all manifests, file by file."""
        return [it for one in self.examined for it in one.checked.diagnostics]

    @property
    def unreadable(self) -> bool:
        """Whether there was something that could not be looked at."""
        return any(it.code == UNREADABLE.id for it in self.diagnostics)


def unreadable(target: str, reason: str) -> Report:
    """The report on a target in which there is nothing to look at."""
    return Report(target, [about(UNREADABLE, target, reason)])


def about(code: Code, file: str, message: str) -> Examined:
    """A finding that has no manifest to point into."""
    return Examined(file, Checked([whole_file(code, file, visible(message))]))
