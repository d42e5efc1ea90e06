"""`talekeeper demo`: the bundled stories told into a fresh home, asked, and every answer explained."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from talekeeper.cli import output
from talekeeper.cli.commands.search import LEGEND, show_hit, show_why
from talekeeper.cli.options import Common, common
from talekeeper.demo import AskedQuestion, BundledStory, LoadedStory, ask_all, bundled_stories, load_story
from talekeeper.text import counted


@click.command(epilog="Example:  talekeeper demo --home ./demo-home")
@click.option("--lang", "language", type=click.Choice(["en", "zh"]), help="One story only.")
@common
def command(options: Common, /, language: str | None) -> None:
    """Show how search works on a bundled story.

    Loads two stories, one English and one Chinese, into a fresh home and asks each a handful of questions. Needs no
    network and no model, and keeps nothing unless --home names a folder.
    """
    began = time.monotonic()
    stories = [story for story in bundled_stories() if language in (None, story.language)]
    shown: list[tuple[BundledStory, LoadedStory, list[AskedQuestion]]] = []
    with ExitStack() as stack:
        folder = options.home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="talekeeper-demo-")))
        home = stack.enter_context(options.open(folder))
        # The last first: the story that is shown first is the one used last, where searches without a session go.
        loaded = {story.session: load_story(home, story, options.workspace) for story in reversed(stories)}
        for story in stories:
            there = loaded[story.session]
            shown.append((story, there, ask_all(home, story, there)))
            if not options.as_json:
                _show(*shown[-1])
    if options.as_json:
        output.emit({"stories": [_json(*each) for each in shown]})
        return
    _close(options, shown, time.monotonic() - began)


def _show(story: BundledStory, loaded: LoadedStory, asked: Sequence[AskedQuestion]) -> None:
    lore = "" if loaded.pieces is None else f", {counted(loaded.pieces, 'piece')} of lore"
    output.say()
    output.say(f"━━ {story.title} · {counted(loaded.messages, 'message')}{lore} ━━", bold=True, colour="cyan")
    explained = max(asked, key=_borrowed)
    for one in asked:
        output.say()
        output.say(f"? {one.question.text}", bold=True)
        if one.answer.results:
            best = one.answer.results[0]
            show_hit(best, " →", score=f"score {best.score:.2f}" if one is explained else "")
        if one.place is None or one.place > 1:
            output.say(f"   (not it: {'the answer is result ' + str(one.place) if one.place else 'missed'})", dim=True)
        if one is explained and one.answer.results:
            _explain(one)


def _borrowed(one: AskedQuestion) -> float:
    """How much the neighbours had to do with the first result: the one worth explaining."""
    return sum(term.near_tf * term.idf for term in one.answer.results[0].why) if one.answer.results else -1


def _explain(one: AskedQuestion) -> None:
    hit = one.answer.results[0]
    output.say()
    first, second = LEGEND
    output.say(f"   why: {hit.score:.2f} is {first}", dim=True)
    output.say(f"   {second}. Every result can be explained like this.", dim=True)
    show_why(hit.why)


def _close(
    options: Common, shown: Sequence[tuple[BundledStory, LoadedStory, list[AskedQuestion]]], seconds: float
) -> None:
    questions = [one for _, _, asked in shown for one in asked]
    first = sum(one.place == 1 for one in questions)
    output.say()
    output.say(
        f"{counted(len(questions), 'question')}, {first} answered by the first result, in {seconds:.1f} s.",
        bold=True,
    )
    if any(loaded.pieces is None for _, loaded, _ in shown):
        output.say("No plugin here reads lore, so the questions about lore were left out.")
    if options.home is None:
        output.say("Nothing was kept. To keep the stories and ask more:  talekeeper demo --home ./demo-home")
    else:
        # Named, since by then another session of this home may be the one used last.
        there = f"--home {options.home} --session {shown[0][0].session}"
        output.say(f'Ask more:  talekeeper search {there} --explain "{questions[0].question.text}"')
    output.say("Import your own story:  talekeeper import FILE")


def _json(story: BundledStory, loaded: LoadedStory, asked: Sequence[AskedQuestion]) -> dict[str, object]:
    return {
        "title": story.title,
        "session": story.session,
        "messages": loaded.messages,
        "lore": loaded.pieces,
        "questions": [{"question": one.question.text, "right_at": one.place, **one.answer.as_json()} for one in asked],
    }
