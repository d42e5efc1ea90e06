"""Every command: where it lives and what `talekeeper --help` says of it, so that help imports none of them."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """`target` is `module:attribute`; `summary` equals the first sentence of the command's own help."""

    target: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "demo": Entry("talekeeper.cli.commands.demo:command", "See it find things in a bundled story."),
    "play": Entry("talekeeper.cli.commands.play:command", "Play a story in the terminal."),
    "import": Entry("talekeeper.cli.commands.imports:command", "Read conversations from files into sessions."),
    "search": Entry("talekeeper.cli.commands.search:command", "Ask a session, as the narrator's memory-search does."),
    "recall": Entry("talekeeper.cli.recall:command", "Show what a turn with this text would recall."),
    "why": Entry("talekeeper.cli.why:command", "Say why a turn's prompt held what it held."),
    "sessions": Entry("talekeeper.cli.commands.sessions:group", "List, show and manage sessions and their branches."),
    "workspaces": Entry("talekeeper.cli.commands.workspaces:group", "List, rename and delete workspaces."),
    "data": Entry("talekeeper.cli.commands.data:group", "Read and write the records plugins declare."),
    "run": Entry("talekeeper.cli.commands.run:command", "Run a plugin's command."),
    "jobs": Entry("talekeeper.cli.commands.jobs:group", "List, run and retry the work that follows turns."),
    "usage": Entry(
        "talekeeper.cli.commands.usage:command", "Say what models were used for, and how many tokens that took."
    ),
    "plugins": Entry("talekeeper.cli.commands.plugins:group", "List, explain, enable, disable and set plugins."),
    "new-plugin": Entry("talekeeper.cli.new_plugin:command", "Make the project of a new plugin."),
    "validate-plugin": Entry("talekeeper.cli.commands.validate_plugin:command", "Check a plugin's manifest."),
    "status": Entry("talekeeper.cli.commands.status:command", "Say what this home holds."),
    "index": Entry(
        "talekeeper.cli.commands.index:group", "Show and make what passages are found by beside their words."
    ),
    "doctor": Entry("talekeeper.cli.commands.doctor:command", "Check the database, index, plugins and settings."),
    "backup": Entry("talekeeper.cli.backup:command", "Copy the database to a file while it is in use."),
    "export": Entry("talekeeper.cli.commands.export:command", "Write sessions to a file, to keep, move or read."),
    "eval": Entry("talekeeper.cli.commands.evaluate:command", "Measure recall on sets of questions."),
    "completion": Entry("talekeeper.cli.completion:command", "Print the shell's completion script."),
}
