"""`validate-plugin --imports`: runs a plugin's code in a process of its own and compares it with the manifest.

The process is `run_plugin`. What it finds comes back through a file, so that nothing the plugin prints is taken for a
finding.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from talekeeper.manifest import (
    BAD_WHEEL,
    BY_ID,
    HOOK_FAILED,
    IMPORT_FAILED,
    Code,
    Examined,
    Finding,
    Report,
    Wheel,
    WheelRefused,
    located,
)
from talekeeper.text import visible

SECONDS = 30.0
"""For one plugin, both times; a host gives each of the two imports and registrations ten."""


def with_code(report: Report, seconds: float = SECONDS) -> Report:
    """The report, with what the code of its sound manifests has to say. Runs that code."""
    return report._replace(examined=[_looked_into(report, it, seconds) for it in report.examined])


def _looked_into(report: Report, one: Examined, seconds: float) -> Examined:
    manifest = one.checked.manifest
    if manifest is None or manifest.module is None:
        return one
    with tempfile.TemporaryDirectory(prefix="validate-plugin-") as place:
        findings = _findings(Path(report.target), one, Path(place), seconds)
    diagnostics = [*one.checked.diagnostics, *located(findings, one.file, one.checked.places)]
    diagnostics.sort(key=lambda it: (it.line, it.column, it.code, it.message))
    return one._replace(checked=one.checked.judged(diagnostics))


def _findings(target: Path, one: Examined, place: Path, seconds: float) -> list[Finding]:
    try:
        root = one.root or _unpacked(target, one, place)
    except WheelRefused as refusal:
        # Of a wheel only the files that the manifest names have been read until now.
        return [Finding(BAD_WHEEL, ("plugin", "module"), f"the wheel is refused: {refusal}")]
    return _asked(one, root, place / "findings.json", seconds)


def _unpacked(wheel: Path, one: Examined, place: Path) -> Path:
    with closing(Wheel(wheel)) as opened:
        opened.unpack(place / "wheel")
    return place.joinpath("wheel", *one.package.split("."))


def _asked(one: Examined, root: Path, answer: Path, seconds: float) -> list[Finding]:
    manifest = root / Path(one.file).name
    arguments = [sys.executable, "-m", "talekeeper.cli.commands.run_plugin", str(manifest), one.package, str(answer)]
    stage, stderr = answer.with_suffix(".stage"), answer.with_suffix(".stderr")
    code = _run(arguments, stderr, seconds)
    if not stage.exists():
        last = stderr.read_text("utf-8", errors="replace").strip().rpartition("\n")[2][-200:]
        return [_of_module(IMPORT_FAILED, f"the process that would run the code fails: {last}")]
    doing = stage.read_text(encoding="utf-8")
    failed = HOOK_FAILED if doing == "registering" else IMPORT_FAILED
    if code is None:
        return [_of_module(failed, f"{doing} takes more than {seconds:g} seconds")]
    if code != 0 or not answer.exists():
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"code {code}"
        return [_of_module(failed, f"{doing} ends the process with {how}")]
    found: list[dict[str, Any]] = json.loads(answer.read_text(encoding="utf-8"))
    return [Finding(BY_ID[it["code"]], tuple(it["path"]), visible(it["message"])) for it in found]


def _of_module(code: Code, message: str) -> Finding:
    return Finding(code, ("plugin", "module"), visible(message))


def _run(arguments: list[str], stderr: Path, seconds: float) -> int | None:
    """The exit code, None when the time was up. Whatever processes the plugin has started are ended too.

    The output goes into a file: a pipe would stay open as long as a process that the plugin has started.
    """
    with (
        stderr.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - a list, no shell
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output, start_new_session=True
        ) as process,
    ):
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end_all(process)


def _end_all(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        # EPERM is what some systems say of a group in which all have ended.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
