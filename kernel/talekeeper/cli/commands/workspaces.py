"""`talekeeper workspaces`: the campaigns and projects of this home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, command_group, common
from talekeeper.cli.present import tell
from talekeeper.cli.targets import workspace_of
from talekeeper.cli.terminal import ask_twice
from talekeeper.story import Workspace
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.home import Home

_argument = click.argument("name", metavar="WORKSPACE")


@command_group("list")
def group() -> None:
    """List, rename and delete workspaces.

    Without a command, lists them. WORKSPACE is a name as --workspace takes it; an import creates it.
    """


@group.command("list", epilog="Example:  talekeeper workspaces list")
@common
def list_workspaces(options: Common, /) -> None:
    """List the workspaces of this home."""
    with options.open() as home:
        rows = [(workspace, *_counts(home, workspace)) for workspace in home.story.workspaces.all()]
    if options.as_json:
        output.emit({"workspaces": [_json(*row) for row in rows]})
    elif rows:
        shown = [(one.id, one.title, f"{sessions:,}", f"{messages:,}") for one, sessions, messages in rows]
        output.table(("workspace", "title", "sessions", "messages"), shown, right={2, 3})
    else:
        output.note("this home has no workspaces; talekeeper import FILE makes one")


@group.command(epilog='Example:  talekeeper workspaces rename default "Evenings at the harbour"')
@_argument
@click.argument("title")
@common
def rename(options: Common, /, name: str, title: str) -> None:
    """Give a workspace another title; its name stays."""
    with options.open() as home:
        home.story.workspaces.rename(workspace_of(home, name).id, title)
        workspace = workspace_of(home, name)
        counts = _counts(home, workspace)
    tell(options, output.titled(workspace.id, workspace.title), {"workspace": _json(workspace, *counts)})


@group.command(epilog="Example:  talekeeper workspaces delete drafts")
@_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def delete(options: Common, /, name: str, *, yes: bool) -> None:
    """Delete a workspace with its sessions, records and index, for good. Asks twice."""
    with options.open() as home:
        workspace = workspace_of(home, name)
        sessions, messages = _counts(home, workspace)
        if not yes:
            holding = f"{counted(sessions, 'session')} and {counted(messages, 'message')}"
            ask_twice(workspace.id, holding, "name")
        home.delete_workspace(workspace.id)
    tell(options, f"{workspace.id} is deleted", {"deleted": workspace.id})


def _counts(home: Home, workspace: Workspace) -> tuple[int, int]:
    """How many sessions and messages it has."""
    sessions = home.story.sessions.all(workspace.id)
    return len(sessions), sum(session.messages for session in sessions)


def _json(workspace: Workspace, sessions: int, messages: int) -> dict[str, Any]:
    return {
        "id": workspace.id,
        "title": workspace.title,
        "sessions": sessions,
        "messages": messages,
        "created": workspace.created,
    }
