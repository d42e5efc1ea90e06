"""What the rules find and what a reader is shown: a code, a place in a file, one sentence and a hint.

Rules give findings, which know a key path; `located` turns them into diagnostics, which know a line and a column.
Small values of this room are named tuples: making such a class takes a tenth of a dataclass's millisecond, and
`validate-plugin` is judged by how quickly it starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from talekeeper.config import KeyPath, Places, Span, pointer
from talekeeper.manifest.codes import Code, Severity

DOC = "docs/reference/diagnostics.md"


class Finding(NamedTuple):
    """A breach of `code` at a key path. `on` says whether the key or its value is meant, `span` overrides both."""

    code: Code
    path: KeyPath
    message: str
    hint: str = ""
    on: Literal["key", "value"] = "value"
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding with its place. Lines and columns count from 1, in characters; 0 means the file as a whole.

    `end_column` is one past the last character. `pointer` is a JSON pointer into the manifest.
    """

    code: str
    severity: Severity
    file: str
    line: int
    column: int
    end_column: int
    pointer: str
    message: str
    hint: str = ""
    doc: str = ""

    @property
    def where(self) -> str:
        """`file:line:column`, or the file alone when nothing in it can be pointed at."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def __str__(self) -> str:
        return f"{self.where}: {self.code} {self.message}"


def located(findings: Iterable[Finding], file: str, places: Places) -> list[Diagnostic]:
    """Diagnostics sorted by position, without repeats."""
    diagnostics = {_locate(finding, file, places) for finding in findings}
    return sorted(diagnostics, key=lambda it: (it.file, it.line, it.column, it.code, it.message))


def whole_file(code: Code, file: str, message: str, hint: str = "") -> Diagnostic:
    """A diagnostic about a file that has no line to point at."""
    return _locate(Finding(code, (), message, hint, span=Span(0, 0, 0)), file, Places())


def _locate(finding: Finding, file: str, places: Places) -> Diagnostic:
    span = finding.span or places.span(finding.path, finding.on)
    return Diagnostic(
        code=finding.code.id,
        severity=finding.code.severity,
        file=file,
        line=span.line,
        column=span.column,
        end_column=span.end_column,
        pointer=pointer(finding.path),
        message=finding.message,
        hint=finding.hint,
        doc=f"{DOC}#{finding.code.id.lower()}",
    )
