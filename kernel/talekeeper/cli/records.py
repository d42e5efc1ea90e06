"""Which namespace and which scope a person means by `PLUGIN/NAMESPACE`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from talekeeper.cli.options import Common
from talekeeper.cli.targets import session_of
from talekeeper.manifest import Namespace
from talekeeper.story import Scope, scope_of

if TYPE_CHECKING:
    from talekeeper.home import Home


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace in the scope whose records are meant."""

    namespace: Namespace
    scope: Scope


def place_of(home: Home, options: Common, path: str, session: str | None) -> Place:
    """The namespace in the session named, or in the one used last; brings the data up to date first."""
    namespace = home.host.namespace(path)
    if namespace.scope == "workspace" and session is None:
        home.story.create_workspace(options.workspace)
        return Place(namespace, Scope(options.workspace))
    found = session_of(home, options, session)
    home.host.ready(found.address)
    return Place(namespace, scope_of(namespace, found))
