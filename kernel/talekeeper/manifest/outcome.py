"""What came of checking the targets of `validate-plugin`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from talekeeper.manifest.check import Checked
from talekeeper.manifest.diagnostic import Code, Diagnostic, whole_file
from talekeeper.manifest.wording import visible


class Examined(NamedTuple):
    """One manifest of a target, or a file that should have led to one.

    `root` is the manifest's folder and `package` its import name, as far as there are any.
    """

    file: str
    checked: Checked
    root: Path | None = None
    package: str = ""


class Report(NamedTuple):
    """Everything about one target. `unreadable` says why nothing could be looked at."""

    target: str
    examined: list[Examined]
    unreadable: str = ""

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Those of all manifests, file by file."""
        return [it for one in self.examined for it in one.checked.diagnostics]


def about(code: Code, file: str, message: str) -> Examined:
    """A finding that has no manifest to point into."""
    return Examined(file, Checked([whole_file(code, file, visible(message))]))
