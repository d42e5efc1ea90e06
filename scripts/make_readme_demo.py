"""Writes into README.md, under its comment `demo:output`, what `talekeeper demo` answers to some of its questions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
# One with the reason it was found, one from lore in the other language.
QUESTIONS = ("What did I promise Hob Pargeter?", "望乡石在哪里？")
SHOWN = re.compile(r"(?<=<!-- demo:output -->\n```text\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def printed() -> str:
    """All that the demo prints where no terminal is."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"TALEKEEPER_HOME": home, "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", "from talekeeper.cli import main; main()", "demo"]
        return subprocess.run(command, env=environment, capture_output=True, check=True).stdout.decode("utf-8")


def answer(output: str, question: str) -> str:
    """A question with what follows it, up to the next question, story or the end."""
    found = re.search(rf"^\? {re.escape(question)}\n.*?(?=\n\n(?:\?|━|\d))", output, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"the demo does not ask: {question}")
    return found.group()


def main() -> None:
    """Replaces the block."""
    output = printed()
    answers = "\n\n…\n\n".join(answer(output, question) for question in QUESTIONS)
    text, count = SHOWN.subn(lambda _: f"{answers}\n", README.read_text("utf-8"))
    if count != 1:
        raise SystemExit("README.md has no text block under <!-- demo:output -->")
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
