"""What pytest finds by itself costs nothing until it is asked for, and brings no warning."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

RunPytest = Callable[..., subprocess.CompletedProcess[str]]


def test_a_suite_that_does_not_ask_loads_nothing_of_the_kernel(run_pytest: RunPytest, tmp_path: Path) -> None:
    run = run_pytest(
        tmp_path,
        """
        import sys

        def test_modules():
            loaded = {name for name in sys.modules if name.partition(".")[0] == "talekeeper"}
            assert loaded == {"talekeeper", "talekeeper.fixtures"}
            assert not {"numpy", "httpx", "jsonschema_rs", "pydantic"} & set(sys.modules)
        """,
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert "1 passed" in run.stdout


SUITE = """
    from talekeeper.testing import Host

    def test_one(talekeeper_host: Host) -> None:
        talekeeper_host.tell("The lamp is lit.")
        assert talekeeper_host.search("lamp").searched == 1

    def test_two(talekeeper_host: Host) -> None:
        talekeeper_host.tell("The lamp is out.")
        assert talekeeper_host.search("lamp").searched == 1
"""


def test_a_suite_whose_warnings_are_errors_can_use_it_under_xdist(run_pytest: RunPytest, tmp_path: Path) -> None:
    run = run_pytest(tmp_path, SUITE, "-n", "1")

    assert (run.returncode, run.stderr) == (0, "")
    assert "2 passed" in run.stdout


def test_a_test_that_fails_beside_those_that_pass_leaves_no_warning_behind(
    run_pytest: RunPytest, tmp_path: Path
) -> None:
    failing = """
    def test_it(talekeeper_host: Host) -> None:
        talekeeper_host.tell("lamp")
        assert False
    """

    run = run_pytest(tmp_path, SUITE + failing)

    assert "1 failed, 2 passed" in run.stdout
    assert run.stderr == ""
    assert "Warning" not in run.stdout


def test_pytest_started_by_a_program_that_uses_talekeeper_warns_of_nothing(tmp_path: Path) -> None:
    code = "import sys, talekeeper.errors, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    options = ["-q", "-W", "error", "--fixtures", "-p", "no:cacheprovider", str(tmp_path)]

    run = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True, check=False)

    assert "talekeeper_host" in run.stdout
    assert (run.returncode, run.stderr) == (0, "")
