"""How much CPU a command takes, beside the same command of another installation.

    python scripts/bench_startup.py --against ../before/.venv/bin
    python scripts/bench_startup.py --against ../before/.venv/bin/python --runs 9

Both installations run each command in turn, in a home and on a plugin that each made itself. Prints ratios of the
CPU of the whole process, this installation by the other: of the medians, and of the least, which a busy machine
disturbs less. Exits with 1 when the ratio of the least is over a command's limit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

LIMITS: Mapping[str, float] = {
    "talekeeper sessions": 0.55,
    "talekeeper search lantern": 0.55,
    "talekeeper status": 0.55,
    "talekeeper --help": 1.35,
    "validate-plugin tavern": 1.35,
}
"""Command → the most its least CPU may be of the other's. The first three load the store, an index, and the plugins."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, required=True, metavar="PYTHON_OR_BIN", help="the other installation")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args(arguments)
    against = options.against if options.against.is_dir() else options.against.parent
    with tempfile.TemporaryDirectory(prefix="talekeeper-startup-") as folder:
        places = {"ours": Path(sysconfig.get_path("scripts")), "theirs": against.absolute()}
        homes = {name: _home(place, Path(folder) / name) for name, place in places.items()}
        over = 0
        for command, limit in LIMITS.items():
            taken: dict[str, list[float]] = {name: [] for name in places}
            for _ in range(options.runs):
                for name, place in places.items():
                    taken[name].append(_cpu(place, command, homes[name]))
            least, middle = (of(taken["ours"]) / of(taken["theirs"]) for of in (min, median))
            print(f"{command:<28} least {least:.2f}, median {middle:.2f}, may be {limit:.2f}")
            over += least > limit
    return 1 if over else 0


def _home(place: Path, folder: Path) -> Path:
    folder.mkdir()
    for command in (
        "talekeeper demo --lang en --home .",
        "talekeeper new-plugin tavern --data-only",
        *LIMITS,
    ):  # the first run writes byte code
        _cpu(place, command, folder)
    return folder


def _cpu(place: Path, command: str, home: Path) -> float:
    """Seconds of CPU that the command took, its own and the system's."""
    program, *words = command.split()
    environment = {**os.environ, "TALEKEEPER_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling what is unchanged is nobody's start
    with subprocess.Popen(
        [place / program, *words], cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{place / program} {' '.join(words)}: {said.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
