"""`talekeeper index`: how far passages have vectors to be found by, and giving them some."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from talekeeper.cli import output
from talekeeper.cli.options import Common, command_group, common
from talekeeper.config import MISSPELT, nearest
from talekeeper.errors import NoModel
from talekeeper.models import EMBEDDING
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.embedding import EmbeddingStatus
    from talekeeper.home import Home

_NOTHING = "passages are found by words alone: no embedding model is configured"
_CURE = 'write provider = "local" under [models.embedding] in talekeeper.toml, or an endpoint'


@command_group("status")
def group() -> None:
    """Show or make the vectors that passages are found by.

    Without a command, shows them. With an embedding model, passages are also found by meaning. Each passage needs a
    vector, which is made after a turn or by `index rebuild`.
    """


@group.command(epilog="Example:  talekeeper index status")
@common
def status(options: Common, /) -> int:
    """Show how many passages of the home have a vector.

    Asks the embedding model for the vector of one word, and exits with 1 when it does not answer.
    """
    with options.open() as home:
        standing = home.semantics.status()
        if standing.encoder:
            standing = replace(standing, fault=home.semantics.unreachable())
        cure = "" if standing.encoder or standing.fault else _cure(home)
    if options.as_json:
        output.emit(asdict(standing))
    else:
        _show(standing, cure)
    return 1 if standing.fault else 0


@group.command(epilog="Example:  talekeeper index rebuild")
@common
def rebuild(options: Common, /) -> None:
    """Make a vector for every passage of the home that has none of the present model.

    Interrupted, it continues where it stopped.
    """
    with options.open() as home:
        if home.semantics.encoder() is None:
            raise NoModel(_NOTHING, cure=_cure(home))
        before = home.semantics.status()
        with output.progress("passages", before.passages - before.embedded) as reach:
            made = home.semantics.embed(progress=reach)
        standing = home.semantics.status()
    if options.as_json:
        output.emit({"made": made, **asdict(standing)})
        return
    output.say(f"{counted(made, 'vector')} made")
    _show(standing)


def _show(standing: EmbeddingStatus, cure: str = "") -> None:
    if standing.fault or not standing.encoder:
        output.say(f"{counted(standing.passages, 'passage')}, found by words alone")
        output.note(standing.fault or f"{_NOTHING}; {cure}")
    else:
        done = f"{standing.embedded:,} of {counted(standing.passages, 'passage')}"
        output.say(f"{done} can be found by meaning, with {standing.encoder}")


def _cure(home: Home) -> str:
    """What to do where nothing embeds; a slot of any name may be configured, also one that is `embedding` misspelt."""
    near = nearest(EMBEDDING, home.models.slots, MISSPELT)
    return f"did you mean [models.{EMBEDDING}] by [models.{near}]?" if near else _CURE
