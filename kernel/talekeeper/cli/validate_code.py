"""`validate-plugin --imports`: runs a plugin's code in a process of its own and compares it with the manifest.

The process is `run_plugin`. What it finds comes back through a file, so that nothing the plugin prints is taken for a
finding.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from talekeeper.errors import TalekeeperError
from talekeeper.manifest.codes import BY_ID
from talekeeper.manifest.codes import code as codes
from talekeeper.manifest.diagnostic import Finding, located
from talekeeper.manifest.outcome import Examined, Report
from talekeeper.manifest.wheel import Wheel
from talekeeper.manifest.wording import visible

SECONDS = 30.0
"""For one plugin, both times; a host gives each of the two imports and registrations ten."""


def with_code(report: Report) -> Report:
    """The report, with what the code of its sound manifests has to say. Runs that code."""
    return report._replace(examined=[_looked_into(report, it) for it in report.examined])


def _looked_into(report: Report, one: Examined) -> Examined:
    manifest = one.checked.manifest
    if manifest is None or manifest.module is None:
        return one
    with tempfile.TemporaryDirectory(prefix="validate-plugin-") as place:
        root = one.root or _unpacked(Path(report.target), one, Path(place))
        findings = [_finding(it) for it in _asked(one, root, Path(place) / "findings.json")]
    diagnostics = [*one.checked.diagnostics, *located(findings, one.file, one.checked.places)]
    diagnostics.sort(key=lambda it: (it.line, it.column, it.code, it.message))
    return one._replace(checked=one.checked.judged(diagnostics))


def _unpacked(wheel: Path, one: Examined, place: Path) -> Path:
    opened = Wheel(wheel)
    try:
        opened.unpack(place / "wheel")
    finally:
        opened.close()
    return place.joinpath("wheel", *one.package.split("."))


def _asked(one: Examined, root: Path, answer: Path) -> list[Mapping[str, Any]]:
    arguments = [sys.executable, "-m", "talekeeper.cli.run_plugin", str(root), one.package, str(answer)]
    try:
        # The plugin's own output goes where it cannot be mistaken for ours.
        done = subprocess.run(arguments, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603 - a list, no shell
    except subprocess.TimeoutExpired:
        return [_ended(answer, f"takes more than {SECONDS:g} seconds")]
    if not _stage(answer).exists():
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise TalekeeperError("the process that runs the plugin's code does not start", where=str(root), cure=last)
    if done.returncode != 0 or not answer.exists():
        return [_ended(answer, f"ends the process with code {done.returncode}")]
    found: list[Mapping[str, Any]] = json.loads(answer.read_text(encoding="utf-8"))
    return found


def _ended(answer: Path, how: str) -> Mapping[str, Any]:
    doing = _stage(answer).read_text(encoding="utf-8") if _stage(answer).exists() else "importing"
    code = codes.HOOK_FAILED if doing == "registering" else codes.IMPORT_FAILED
    return {"code": code.id, "message": f"{doing} {how}", "path": ["plugin", "module"]}


def _stage(answer: Path) -> Path:
    return answer.with_suffix(".stage")


def _finding(found: Mapping[str, Any]) -> Finding:
    return Finding(BY_ID[found["code"]], tuple(found["path"]), visible(found["message"]))
