"""Plays real sessions in a home of their own, and says of each phase whether what must hold does hold.

    python scripts/verify_session.py                                        six turns, sixty turns, branches; scripted
    python scripts/verify_session.py --run plain --turns 12 --locale zh
    python scripts/verify_session.py --base-url http://127.0.0.1:11434/v1 --model llama3.1:8b --run plain
    python scripts/verify_session.py --require-tool memory-search --require-recall --require-summary

Without `--base-url` the narrator is a server on this machine that answers from a script. Exits with 0 when no phase
failed, 1 when one did, 2 when nothing could be played. `--out` is where prompts, turns, verdicts, the log and a copy of
the store are left.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from talekeeper.errors import InputError, TalekeeperError
from talekeeper.home import Home
from talekeeper.testing import ScriptedServer
from verify import verdicts
from verify.branching import branch
from verify.playing import Play
from verify.recording import ModelCall, Recording
from verify.scripted import CAST, Teller
from verify.verdicts import Verdict, Wanted

RUNS = ("plain", "long", "branching")
LONG = 60
WORKSPACE = "verify"
TOOL = "memory-search"


@dataclass
class Artefacts:
    """The folder that is left behind; `log` also prints."""

    folder: Path
    quiet: bool
    lines: list[str] = field(default_factory=list[str])

    def log(self, line: str) -> None:
        """One line of what happens."""
        self.lines.append(line)
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)

    def keep(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        """Writes JSON Lines."""
        text = "".join(json.dumps(row, ensure_ascii=False, default=dict) + "\n" for row in rows)
        (self.folder / name).write_text(text, encoding="utf-8")


@dataclass
class Verifier:
    """Everything the runs share."""

    options: argparse.Namespace
    home: Home
    teller: Teller | None
    artefacts: Artefacts
    plays: list[tuple[Play, list[ModelCall]]] = field(default_factory=list[tuple[Play, list[ModelCall]]])

    def verify(self) -> list[Verdict]:
        """Plays every run that is asked for and judges it."""
        found = [verdict for run in self.options.run or RUNS for verdict in self._run(run)]
        wanted = self._wanted()
        turns = [turn for play, _ in self.plays for turn in play.turns]
        found += [verdicts.of_tool(turns, wanted), verdicts.of_recall(turns, wanted)]
        found.append(verdicts.of_summary(self.plays, wanted))
        return found

    def _run(self, run: str) -> list[Verdict]:
        play = self._begin(run)
        asked = play.recording.asked
        found: list[Verdict] = []
        if run == "branching":
            found += branch(play, asked)
        else:
            for _ in range(LONG if run == "long" else self.options.turns):
                if play.turn().fault:
                    break
        limit = self.options.max_prompt_tokens or 0
        return [
            verdicts.of_turns(run, play),
            *found,
            verdicts.of_jobs(run, play),
            verdicts.of_budget(run, asked, limit, self.options.context),
            verdicts.of_store(run, play),
        ]

    def _begin(self, run: str) -> Play:
        home, locale = self.home, self.options.locale
        named: str | None = self.options.plugins
        plugins = home.plugins_of_new_sessions(WORKSPACE)
        chosen = plugins if named is None else tuple(name for name in named.split(",") if name)
        for plugin in chosen:
            home.host.enable(plugin)
        session = home.story.sessions.create(WORKSPACE, session_id=run, locale=locale, plugins=chosen)
        home.host.ready(session.address)
        recording = Recording(home.models)
        play = Play(home, session.address, recording, locale, self.teller, self.artefacts.log)
        self.plays.append((play, recording.asked))
        return play

    def _wanted(self) -> Wanted:
        given = self.options
        return Wanted(given.require_tool or "", given.require_recall, given.require_summary)

    def keep(self, found: Sequence[Verdict]) -> None:
        """Leaves the artefacts."""
        kept = self.artefacts
        kept.keep("verdicts.jsonl", (verdict.as_json() for verdict in found))
        for play, asked in self.plays:
            run = play.address.session
            kept.keep(f"{run}-turns.jsonl", (turn.as_json() for turn in play.turns))
            kept.keep(f"{run}-prompts.jsonl", (each.as_json() for each in asked))
        (kept.folder / "log.txt").write_text("\n".join(kept.lines) + "\n", encoding="utf-8")
        self.home.db.backup(kept.folder / "store.sqlite")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the verifier and gives the exit code."""
    options = read_arguments(arguments)
    folder = options.out or Path(tempfile.mkdtemp(prefix="talekeeper-verify-"))
    artefacts = Artefacts(folder, options.json)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError("the folder for artefacts is not empty", where=str(folder), cure="name another with --out")
        with set_up(options, artefacts) as verifier:
            found = verifier.verify()
            verifier.keep(found)
    except (TalekeeperError, OSError) as fault:
        print(f"verify_session: {fault}", file=sys.stderr)
        return 2
    show(found, folder, as_json=options.json)
    return 1 if any(verdict.word == "FAIL" for verdict in found) else 0


def show(found: Sequence[Verdict], folder: Path, *, as_json: bool) -> None:
    """Prints the verdicts."""
    if as_json:
        print(json.dumps({"verdicts": [verdict.as_json() for verdict in found], "artefacts": str(folder)}, indent=2))
        return
    for verdict in found:
        print(f"{verdict.word}  {verdict.phase:<20} {verdict.why}")
    print(f"artefacts: {folder}")


@contextmanager
def set_up(options: argparse.Namespace, artefacts: Artefacts) -> Generator[Verifier]:
    """A home in a folder of its own, and who narrates in it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="talekeeper-verify-home-")))
        teller = None
        url = options.base_url
        if url is None:
            teller = Teller(options.locale, options.require_tool or TOOL)
            url = stack.enter_context(ScriptedServer(teller)).base_url
        (folder / "talekeeper.toml").write_text(configuration(options, url), encoding="utf-8")
        home = stack.enter_context(Home.open(folder, plugin_paths=options.plugin))
        yield Verifier(options, home, teller, artefacts)


def configuration(options: argparse.Namespace, url: str) -> str:
    """The home's models. The scripted ones are told apart by their names."""
    lines = ["[models.narrator]", f"base_url = {json.dumps(url)}", f"context = {options.context}"]
    if options.base_url is None:
        slots = "".join(f'\n[models.{slot}]\nmodel = "{slot}"\ncontext = 16384\n' for slot in ("extract", "summary"))
        return "\n".join([*lines, 'model = "narrator"', slots])
    lines += [f"model = {json.dumps(options.model)}"] if options.model else []
    lines += [f"key_env = {json.dumps(options.key_env)}"] if options.key_env else []
    return "\n".join([*lines, ""])


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line, checked."""
    about = (__doc__ or "").partition("\n\n")[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--run", action="append", choices=RUNS, help="this run; may be given again; default: all")
    parser.add_argument("--turns", type=_count, default=6, metavar="N", help="turns of the plain run; default: 6")
    parser.add_argument("--locale", choices=sorted(CAST), default="en", help="language of the sessions")
    parser.add_argument("--plugins", metavar="ID,…", help="plugins of the sessions; default: all that are on")
    parser.add_argument("--plugin", action="append", type=Path, default=[], metavar="DIR", help="one more plugin")
    parser.add_argument("--base-url", metavar="URL", help="a real endpoint, as http://127.0.0.1:11434/v1")
    parser.add_argument("--model", help="its model; default: the first it lists")
    parser.add_argument("--key-env", metavar="NAME", help="the environment variable that holds its key")
    parser.add_argument("--context", type=_count, default=4096, help="tokens of its context; default: 4096")
    parser.add_argument("--require-tool", metavar="NAME", help="the narrator must have called this tool")
    parser.add_argument("--require-recall", action="store_true", help="a record must have been recalled")
    parser.add_argument("--require-summary", action="store_true", help="a summary must stand in for lost history")
    parser.add_argument("--max-prompt-tokens", type=_count, metavar="N", help="no prompt may be longer")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where artefacts are left; default: a new folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(arguments)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("give a number from 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
