"""Looks for a model server on this machine, at the ports where the usual ones listen.

Nothing is remembered here: a face names what was found before the first text is sent, and whoever asked remembers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from talekeeper.clock import Clock
from talekeeper.errors import ModelError
from talekeeper.models.chat import Cancel
from talekeeper.models.slots import NARRATOR, Slot, TimeLimits
from talekeeper.models.urls import BaseUrl

USUAL_PORTS = (("Ollama", 11434), ("llama.cpp", 8080), ("LM Studio", 1234))

# A server on the same machine that takes longer than this to list its models is busy loading one.
_LIMITS = TimeLimits(connect=0.5, first=2.0, between=1.0, total=3.0)


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered: what usually listens there, where, and the models it lists."""

    program: str
    url: BaseUrl
    models: tuple[str, ...]


def find_local_servers(
    *, clock: Clock, ports: Sequence[tuple[str, int]] = USUAL_PORTS, cancel: Cancel | None = None
) -> list[LocalServer]:
    """The servers on 127.0.0.1 that answer `/v1/models` with a list of models; anything else there does not count.

    Sends no text and no key. Takes some 3 s for each port that is open and silent, nothing for a closed one.
    """
    found: list[LocalServer] = []
    for program, port in ports:
        url = BaseUrl("http", "127.0.0.1", port, "/v1")
        names = _listed(url, clock, cancel)
        if names:
            found.append(LocalServer(program, url, tuple(names)))
    return found


def _listed(url: BaseUrl, clock: Clock, cancel: Cancel | None) -> list[str]:
    from talekeeper.models.client import Client  # noqa: PLC0415 -- brings httpx, which nobody else needs to load

    slot = Slot(NARRATOR, url, network="loopback", limits=_LIMITS, retries=0)
    try:
        return Client(slot, clock=clock).list_models(cancel=cancel)
    except ModelError:
        return []
