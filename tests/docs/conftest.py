"""Runs the pages of the documentation, command by command, as their readers would."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>\w+): (?P<value>[^ ]+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_END = "── end of block"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and what a comment right before it says of it."""

    kind: str
    text: str
    mark: str = ""
    value: str = ""


@dataclass(frozen=True)
class Step:
    """Commands, and the lines that their output is said to have."""

    commands: str
    expected: tuple[str, ...]


Steps = list[Step | Block]


@pytest.fixture(scope="session")
def docs() -> Path:
    return Path(__file__).parents[2] / "docs"


@pytest.fixture
def follow(docs: Path, tmp_path: Path) -> Callable[..., str]:
    """Does what a page says, with `environment`, and gives its first departure from what it promises, '' without any.

    `with_pip` also takes the blocks marked as needing it.
    """

    def run(page: str, environment: Mapping[str, str], *, with_pip: bool = False) -> str:
        steps = steps_of((docs / page).read_text("utf-8"), with_pip=with_pip)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(map(_script, steps))],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # as a terminal has it
            text=True,
            check=False,
        )
        outputs = done.stdout.split(f"{_END}\n")
        for step, output in zip([step for step in steps if isinstance(step, Step)], outputs, strict=False):
            missing = [line for line in step.expected if line not in output]
            if missing:
                return f"{step.commands}does not print {missing[0]!r} but\n{output}"
        return "" if done.returncode == 0 else outputs[-1]

    return run


def steps_of(text: str, *, with_pip: bool) -> Steps:
    """Commands with the output shown right after them, and files to write or to edit."""
    blocks = [_block(found) for found in _BLOCK.finditer(text)]
    return [step for number, block in enumerate(blocks) for step in _steps(block, blocks[number + 1 :], with_pip)]


def _steps(block: Block, following: list[Block], with_pip: bool) -> Iterator[Step | Block]:
    if block.kind == "sh" and (with_pip or block.mark != "needs"):
        shown = following[0].text.splitlines() if following and following[0].kind == "text" else []
        yield Step(block.text, tuple(line.rstrip() for line in shown))
    elif block.mark in {"file", "edit"}:
        yield block


def _block(found: re.Match[str]) -> Block:
    return Block(found["kind"], found["text"], found["mark"] or "", found["value"] or "")


def _script(step: Step | Block) -> str:
    if isinstance(step, Step):
        return f"{step.commands}\necho '{_END}'"
    if step.mark == "file":
        return f"cat > {step.value} <<'END OF FILE'\n{step.text}END OF FILE"
    return f"python - {step.value} <<'END OF EDIT'\n{_EDIT}{step.text!r}.splitlines())\nEND OF EDIT"


_EDIT = """
import pathlib, sys

def edit(lines):
    path = pathlib.Path(sys.argv[1])
    text = path.read_text("utf-8")
    old = "".join(line[1:] + "\\n" for line in lines if line[0] in " -")
    new = "".join(line[1:] + "\\n" for line in lines if line[0] in " +")
    if not old:
        text += new
    elif text.count(old) == 1:
        text = text.replace(old, new)
    else:
        sys.exit(f"{path} has {text.count(old)} times\\n{old}")
    path.write_text(text, "utf-8")

edit("""
