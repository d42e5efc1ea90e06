"""Which model narrates a play; a server found on this machine is named before any text is sent there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from talekeeper.cli import screen
from talekeeper.cli.play_lines import Lines
from talekeeper.cli.play_stage import Stage
from talekeeper.models import find_local_servers

if TYPE_CHECKING:
    from talekeeper.home import Home

_NAMED = 3


def choose_models(home: Home, stage: Stage, lines: Lines, *, no_model: bool) -> None:
    """Where nothing is configured or remembered, looks on this machine, names what is there, and remembers it.

    A person at a terminal may say no; then this play has no model, and the next one asks again.
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
    stage.tell("local-server", data, lambda: screen.note(f"{told}."))
    if lines.interactive and not lines.confirm("Let it narrate, now and from now on?", otherwise=True):
        home.use_no_model()
        return
    home.remember_server(str(server.url))
