"""Runs everything that must hold before a change is shared, for people and for CI alike.

    python scripts/check.py                 all steps
    python scripts/check.py --all           with the slow tests and fresh hypothesis examples
    python scripts/check.py --only lint     one step, or several: --only lint --only mypy
    python scripts/check.py --skip wheel    all but one

Wants an environment with `pip install -e '.[dev]'`. Every step runs, whatever an earlier one said; one failure makes
the exit code 1. The last lines are the closing lines of the test runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEST_LINE = re.compile(r"\d+ (?:passed|failed|error)[^\n]* in [\d.]+s")


@dataclass
class Run:
    """One call of this script: what the steps are told, and the closing lines of the test runs they made."""

    everything: bool
    closing_lines: list[str] = field(default_factory=list[str])

    def call(self, *command: str | Path, cwd: Path = ROOT) -> bool:
        """Runs a command, passing its output on as it comes; true if it exits 0."""
        words = [str(word) for word in command]
        with subprocess.Popen(
            words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                if TEST_LINE.search(line):
                    self.closing_lines.append(line.strip())
        return process.returncode == 0

    def python(self, *command: str | Path) -> bool:
        """Runs a module of the environment this script runs in."""
        return self.call(sys.executable, "-m", *command)

    def pytest(self, python: str | Path, tree: Path) -> bool:
        """Runs the tests that lie in `tree` with whatever talekeeper `python` finds."""
        slow = ["--slow", "--hypothesis-profile=explore"] if self.everything else []
        return self.call(python, "-m", "pytest", "-q", "-n", "2", *slow, cwd=tree)


def check_format(run: Run) -> bool:
    """The formatter would change nothing."""
    return run.python("ruff", "format", "--check", ".")


def check_lint(run: Run) -> bool:
    """Ruff finds nothing."""
    return run.python("ruff", "check", ".")


def check_mypy(run: Run) -> bool:
    """Mypy finds nothing, in the tree and then in each plugin's own tests."""
    trees: list[list[Path]] = [[], *([path] for path in sorted(ROOT.glob("plugins/*/tests")))]
    return every(run.python("mypy", *tree) for tree in trees)


def check_pyright(run: Run) -> bool:
    """Pyright finds nothing."""
    return run.python("pyright", "--pythonpath", sys.executable)


def check_borders(run: Run) -> bool:
    """Each room imports only what it may."""
    command = shutil.which("lint-imports", path=sysconfig.get_path("scripts"))
    return command is not None and run.call(command, "--no-logo")


def check_house(run: Run) -> bool:
    """Modules are as many and as large as they may be, and no policy has a second place."""
    return run.call(sys.executable, ROOT / "scripts" / "house.py")


def check_generated(run: Run) -> bool:
    """Every scripts/make_*.py, run in a copy of the tree, writes what is there."""
    with tempfile.TemporaryDirectory(prefix="talekeeper-generated-") as name:
        copy = Path(name) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "node_modules"))
        before = contents(copy)
        ran = every(run.call(sys.executable, script, cwd=copy) for script in sorted(copy.glob("scripts/make_*.py")))
        stale = sorted(path for path, text in contents(copy).items() if before.get(path) != text)
    for path in stale:
        print(f"{path} is not what its script writes; run the script again")
    return ran and not stale


def check_tests(run: Run) -> bool:
    """The tests pass on what is installed here."""
    return run.pytest(sys.executable, ROOT)


def check_wheel(run: Run) -> bool:
    """The tests of the sdist, its own sources taken away, pass on the wheel built from that sdist."""
    with tempfile.TemporaryDirectory(prefix="talekeeper-wheel-") as name:
        folder = Path(name)
        python = folder / "venv" / Path(sysconfig.get_path("scripts")).name / "python"
        return (
            run.python("build", "--no-isolation", "--outdir", folder / "dist", ROOT)
            and run.python("venv", folder / "venv")
            and run.call(python, "-m", "pip", "install", "--quiet", f"{only(folder, 'dist/*.whl')}[test]")
            and run.pytest(python, tests_alone(only(folder, "dist/*.tar.gz"), folder / "tree"))
        )


def tests_alone(sdist: Path, target: Path) -> Path:
    """Unpacks an sdist without the packages that the wheel holds, so that nothing but the wheel can be imported."""
    shutil.unpack_archive(sdist, target, filter="data")
    tree = only(target, "*")
    for package in [tree / "kernel", *tree.glob("plugins/*/talekeeper_*")]:
        shutil.rmtree(package)
    return tree


def contents(tree: Path) -> dict[str, bytes]:
    """A digest of every file, by its path in the tree."""
    files = (path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(tree).as_posix(): sha256(path.read_bytes()).digest() for path in files}


def every(verdicts: Iterable[bool]) -> bool:
    """Like `all`, but asks each, so that a failure does not hide the next."""
    return all(list(verdicts))


def only(folder: Path, pattern: str) -> Path:
    """The one path that matches."""
    (path,) = folder.glob(pattern)
    return path


STEPS: dict[str, Callable[[Run], bool]] = {
    "format": check_format,
    "lint": check_lint,
    "mypy": check_mypy,
    "pyright": check_pyright,
    "borders": check_borders,
    "house": check_house,
    "generated": check_generated,
    "tests": check_tests,
    "wheel": check_wheel,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the steps asked for, then prints the verdicts and, last, how the tests ended."""
    options = read_arguments(arguments)
    if importlib.util.find_spec("talekeeper") is None:
        print("talekeeper is not installed here; run: pip install -e '.[dev]'")
        return 2
    run = Run(everything=options.all)
    verdicts = [verdict(run, name) for name in STEPS if name in (options.only or STEPS) and name not in options.skip]
    print("\n" + "\n".join(line for _, line in verdicts))
    for line in run.closing_lines:
        print(line)
    return 0 if all(passed for passed, _ in verdicts) else 1


def verdict(run: Run, name: str) -> tuple[bool, str]:
    """Runs one step and says how it went and how long it took."""
    print(f"\n── {name}", flush=True)
    start = time.monotonic()
    passed = STEPS[name](run)
    line = f"{'ok    ' if passed else 'FAILED'} {name:<10} {time.monotonic() - start:6.1f} s"
    print(line, flush=True)
    return passed, line


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line, checked."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="steps:\n" + "\n".join(f"  {name:<10} {step.__doc__}" for name, step in STEPS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--all", action="store_true", help="with the slow tests and fresh hypothesis examples")
    parser.add_argument("--only", action="append", choices=STEPS, help="run this step; may be given again")
    parser.add_argument("--skip", action="append", choices=STEPS, default=[], help="leave this step out")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
