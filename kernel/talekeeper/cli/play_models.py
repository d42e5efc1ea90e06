"""Which model narrates a play; no text goes to a server found on this machine unless a person has said so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from talekeeper.cli import output
from talekeeper.cli.play.console import Lines
from talekeeper.cli.play_stage import Stage
from talekeeper.models import find_local_servers

if TYPE_CHECKING:
    from talekeeper.home import Home

_NAMED = 3
_UNASKED = (
    "nobody can be asked whether it may narrate, so nothing is sent there; OPENAI_BASE_URL={url} or talekeeper.toml "
    "lets it, or a yes at a terminal"
)


def choose_models(home: Home, stage: Stage, lines: Lines, *, no_model: bool) -> None:
    """Where nothing is configured or remembered, looks on this machine, names what is there, and asks about it.

    Yes is remembered; after no this play has no model, and the next one asks again. Where nobody can be asked, none is
    used either.
    """
    if no_model:
        home.use_no_model()
    if home.models.origin != "none" or no_model:
        return
    found = find_local_servers(clock=home.clock)
    if not found:
        return
    server = found[0]
    models = ", ".join(server.models[:_NAMED]) + (", …" if len(server.models) > _NAMED else "")
    told = f"{server.program} answers on this machine at {server.url} with {models}"
    data = {"program": server.program, "url": str(server.url), "models": server.models}
    stage.tell("local-server", data, lambda: output.note(f"{told}."))
    if not lines.interactive:
        stage.note(_UNASKED.format(url=server.url))
    elif lines.confirm("Let it narrate, now and from now on?", otherwise=True):
        home.remember_server(str(server.url))
        return
    home.use_no_model()
