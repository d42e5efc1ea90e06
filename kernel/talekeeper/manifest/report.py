"""What came of checking targets: as text with excerpts, as plain JSON, as GitHub workflow commands."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from talekeeper.manifest import codes
from talekeeper.manifest.codes import Code
from talekeeper.manifest.declared import PluginManifest
from talekeeper.manifest.diagnostic import Diagnostic, whole_file
from talekeeper.manifest.loader import Checked
from talekeeper.text import counted, listed, quoted, visible

Paint = Callable[[str, str], str]
"""Puts a style ("place", "error", "warning", "dim", "hint", "ok") on a text; a plain terminal gets the text alone."""

_LONGEST_PLACE = 300
_BEFORE, _SHOWN = 60, 110
"""Characters of a long line shown before the fault, and in all."""


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
        return any(it.code == codes.UNREADABLE.id for it in self.diagnostics)


def about(code: Code, file: str, message: str) -> Examined:
    """A finding that has no manifest to point into."""
    return Examined(file, Checked([whole_file(code, file, visible(message))]))


def unpainted(text: str, _style: str) -> str:
    """Paints nothing."""
    return text


def as_text(reports: Sequence[Report], paint: Paint = unpainted) -> Iterator[str]:
    """Lines for people: each diagnostic with its excerpt, a line for each sound manifest, the count."""
    for report in reports:
        for one in report.examined:
            for diagnostic in one.checked.diagnostics:
                yield from _diagnostic(diagnostic, one.checked.text, paint)
            if one.checked.manifest is not None:
                yield f"{paint(_place(one.file), 'place')}: {paint('ok', 'ok')}, {_summary(one.checked.manifest)}"
    yield count(reports)


def count(reports: Sequence[Report]) -> str:
    """`2 manifests: 1 error, 3 warnings`."""
    found = [it.severity for report in reports for it in report.diagnostics]
    manifests = sum(1 for report in reports for one in report.examined if one.checked.text or one.root)
    errors, warnings = found.count("error"), found.count("warning")
    return f"{counted(manifests, 'manifest')}: {counted(errors, 'error')}, {counted(warnings, 'warning')}"


def as_document(reports: Sequence[Report]) -> dict[str, Any]:
    """What JSON is made of: the targets in order, their manifests, the diagnostics of each."""
    return {
        "targets": [
            {
                "target": report.target,
                "unreadable": report.unreadable,
                "manifests": [
                    {
                        "file": one.file,
                        "id": one.checked.id,
                        "valid": one.checked.holds,
                        "diagnostics": [asdict(it) for it in one.checked.diagnostics],
                    }
                    for one in report.examined
                ],
            }
            for report in reports
        ]
    }


def as_github(reports: Sequence[Report]) -> Iterator[str]:
    """Workflow commands, which a pull request shows beside the line they are about."""
    for report in reports:
        for it in report.diagnostics:
            place = f",line={it.line},col={it.column},endColumn={it.end_column}" if it.line else ""
            text = f"{it.message}\n{it.hint}" if it.hint else it.message
            yield f"::{it.severity} file={_property(it.file)}{place},title={it.code}::{_escaped(text)}"


def _diagnostic(it: Diagnostic, text: str, paint: Paint) -> Iterator[str]:
    kind = "" if it.severity == "error" else "(warning) "
    yield f"{paint(_place(it.where), 'place')}: {paint(it.code, it.severity)} {kind}{it.message}"
    lines = text.split("\n")
    margin = " " * 5
    if 0 < it.line <= len(lines):
        shown, carets = excerpt(lines[it.line - 1], it.column, it.end_column)
        yield paint(f"{it.line:>4} | ", "dim") + shown
        yield paint(f"{margin}| ", "dim") + paint(carets, it.severity)
    if it.hint:
        yield f"   = {paint(visible(it.hint), 'hint')}"
    yield paint(f"   = explain: validate-plugin --explain {it.code}", "dim")


def _place(where: str) -> str:
    """The place as it fits in a line: its end when it is very long, quotes when it is blank."""
    short = where if len(where) <= _LONGEST_PLACE else f"…{where[1 - _LONGEST_PLACE :]}"
    return visible(short) if where.strip() else quoted(where)


def excerpt(line: str, column: int, end_column: int) -> tuple[str, str]:
    """The line, or the part around the fault, and the carets under the fault."""
    pieces = [" " if it == "\t" else visible(it) for it in line]
    first = max(0, column - 1 - _BEFORE) if len(pieces) > _SHOWN else 0
    last = min(len(pieces), first + _SHOWN)
    lead = "…" if first else ""
    widths = [_width(it) for it in pieces]
    stop = min(max(end_column, column + 1) - 1, last)
    before = len(lead) + sum(widths[first : column - 1])
    shown = lead + "".join(pieces[first:last]) + ("…" if last < len(pieces) else "")
    return shown.rstrip(), " " * before + "^" * max(1, sum(widths[column - 1 : stop]))


def _width(piece: str) -> int:
    """The columns a character takes on a terminal; an escape takes its length."""
    if len(piece) > 1:
        return len(piece)
    if unicodedata.combining(piece):
        return 0
    return 2 if unicodedata.east_asian_width(piece) in "WF" else 1


def _summary(manifest: PluginManifest) -> str:
    fed = [f"{it.name}.{name}" for it in manifest.data if it.search for name in it.search.found_by]
    reads = f"memory-search reads {listed(fed)}" if fed else "it feeds no search"
    return f"{manifest.id} {manifest.version}; {visible(reads)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
