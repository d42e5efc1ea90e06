"""The pages of the tutorial and the how-to do what they say: commands run, files are written, the output comes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

Follow = Callable[..., str]

PAGES = [
    "tutorial/first-plugin.md",
    "how-to/data-only-plugin.md",
    "how-to/search-several-fields.md",
    "how-to/migrate-a-namespace.md",
    "how-to/speak-in-a-turn.md",
    "how-to/test-a-plugin.md",
    "how-to/look-after-your-data.md",
    "how-to/bring-your-chats.md",
]
WITH_PIP = ["tutorial/first-plugin.md", "how-to/ship-on-pypi.md"]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the pages are written for a shell")


def _environment(scripts: str, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TALEKEEPER", "PIP", "VIRTUAL"))}
    return {**kept, "PATH": f"{scripts}{os.pathsep}{kept['PATH']}", "HOME": str(tmp_path), "PYTHONUTF8": "1"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(follow: Follow, tmp_path: Path, page: str) -> None:
    environment = _environment(sysconfig.get_path("scripts"), tmp_path)

    assert follow(page, environment) == ""


@pytest.fixture
def other_environment(tmp_path: Path) -> Path:
    """The scripts of an environment that has what this one has, in which a plugin can be installed."""
    pytest.importorskip("hatchling", reason="builds wheels; comes with the extra dev")
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    site, scripts = (Path(sysconfig.get_path(name, vars=paths)) for name in ("purelib", "scripts"))
    (site / "here.pth").write_text("\n".join(map(_as_site, sys.path)))
    for name, module in {"talekeeper": "talekeeper.cli", "validate-plugin": "talekeeper.cli.validate_plugin"}.items():
        (scripts / name).write_text(f"#!{scripts / 'python'}\nfrom {module} import main\nmain()\n")
        (scripts / name).chmod(0o755)
    return scripts


def _as_site(path: str) -> str:
    return f"import site; site.addsitedir({path!r})"


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PIP)
def test_a_page_that_installs_does_what_it_says(
    follow: Follow, tmp_path: Path, other_environment: Path, page: str
) -> None:
    # What is built, is built with the hatchling that is here: nothing is fetched.
    environment = {**_environment(str(other_environment), tmp_path), "PIP_NO_BUILD_ISOLATION": "false"}

    assert follow(page, environment, with_pip=True) == ""
