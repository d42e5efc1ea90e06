"""A `World` → a new session: its opening, its player, its records. All of it, or no session."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from talekeeper.config import KeyPath, did_you_mean
from talekeeper.db import Tx, dumps
from talekeeper.errors import ImportFileError, NotFound, ParameterError, StoreError
from talekeeper.home import Home
from talekeeper.json_schema import schema_fault
from talekeeper.manifest import Namespace
from talekeeper.story import Draft, Session, scope_of
from talekeeper.worlds.read import Entry, World


@dataclass(frozen=True, slots=True)
class Begun:
    """The session made; `records` counts what was written, `kept` names records that are there with another value.

    Only records of a workspace or preset can be there before the session is.
    """

    session: Session
    records: int
    kept: tuple[str, ...] = ()


def begin_story(
    home: Home, workspace: str, world: World, *, session_id: str | None = None, title: str = "", preset: str = ""
) -> Begun:
    """Makes the session; what is given counts before what the world says.

    Raises `ImportFileError` with the line of what no plugin here takes, `NotFound` for a preset that is not there and
    `Conflict` when the id is taken.
    """
    chosen = preset or world.preset
    plugins = home.plugins_of_new_sessions(workspace, chosen)
    checked = [(entry, _namespace(home, workspace, world, plugins, entry)) for entry in world.entries]
    session = home.story.sessions.create(
        workspace,
        session_id=session_id,
        title=title or world.title,
        preset=chosen,
        locale=world.locale or "en",
        plugins=plugins,
    )
    try:
        home.host.ready(session.address)
        return home.story.write(lambda tx: _fill(home, session, world, checked, tx), name="begin a world")
    except BaseException:
        home.delete_session(session.address)
        raise


def _namespace(home: Home, workspace: str, world: World, plugins: Sequence[str], entry: Entry) -> Namespace:
    """The namespace of an entry that fits its schema."""
    plugin, steps = entry.plugin, entry.steps
    try:
        home.host.plugin(plugin)
    except NotFound as fault:
        raise world.fault(steps[:2], fault.what, cure=fault.cure, key=True) from fault
    stands = home.host.roster(workspace).by_id[plugin]
    if not stands.works:
        cure = f"talekeeper plugins explain {plugin} says more"
        raise world.fault(steps[:2], f"the plugin {plugin!r} is {stands.state}: {stands.reason}", cure=cure, key=True)
    if plugin not in plugins:
        what = f"the plugin {plugin!r} is none of the preset's"
        raise world.fault(steps[:2], what, cure="add it to the preset, or leave its tables out", key=True)
    try:
        namespace = home.host.namespace(entry.path)
    except NotFound as fault:
        raise world.fault(steps[:3], fault.what, cure=fault.cure, key=True) from fault
    wrong = schema_fault(namespace.schema, _plain(world, entry))
    if wrong is not None:
        raise _misfit(world, entry, namespace, *wrong)
    return namespace


def _misfit(world: World, entry: Entry, namespace: Namespace, place: str, what: str) -> ImportFileError:
    """The fault at its property; one that the schema does not know is pointed at by its name."""
    inner = tuple(int(step) if step.isdigit() else step for step in place.split("/") if step)
    steps = (*entry.steps, *inner)
    named = next((key for key in _keys(entry.value, inner) if f"'{key}'" in what and key not in _known(namespace)), "")
    cure = (did_you_mean(named, _known(namespace)) if named else "") or f"see the record schema of {entry.path}"
    path = f"{entry.path}/{place}".rstrip("/")
    return world.fault((*steps, named) if named else steps, f"{path}: {what}", cure=cure, key=bool(named))


def _keys(value: Mapping[str, Any], inner: KeyPath) -> list[str]:
    return [] if inner else list(value)


def _known(namespace: Namespace) -> list[str]:
    return list(namespace.schema.get("properties", ()))


def _plain(world: World, entry: Entry) -> Any:
    """The value as it is stored."""
    try:
        return json.loads(dumps(entry.value, entry.path))
    except ParameterError as fault:
        raise world.fault(entry.steps, str(fault)) from fault


def _fill(home: Home, session: Session, world: World, checked: Sequence[tuple[Entry, Namespace]], tx: Tx) -> Begun:
    if world.opening.strip():
        opening = Draft("narrator", world.opening.strip(), speaker=world.narrator.strip(), kind="opening")
        home.story.messages.append(session.address, [opening], tx=tx)
    if world.settings:
        home.story.sessions.configure(session.address, settings=world.settings, tx=tx)
    kept: list[str] = []
    for entry, namespace in checked:
        try:
            kept += _write(home, session, entry, namespace, _plain(world, entry), tx)
        except StoreError as fault:
            raise world.fault(entry.steps, f"{entry.path}: {fault.what}", cure=fault.cure) from fault
    return Begun(home.story.sessions.get(session.address, tx=tx), len(checked) - len(kept), tuple(kept))


def _write(home: Home, session: Session, entry: Entry, namespace: Namespace, value: Any, tx: Tx) -> list[str]:
    """Writes a record as a person would; gives it by name where another stands in its place."""
    records, scope = home.story.records, scope_of(namespace, session)
    if not entry.key:
        # A workspace that has begun this world before holds the same records already.
        records.add(namespace, scope, value, dedupe=dumps(value, entry.path), person=True, tx=tx)
        return []
    if namespace.scope != "session":
        standing = records.get(namespace, scope, entry.key, tx=tx)
        if standing is not None:
            return [] if standing.value == value else [f"{entry.path}/{entry.key}"]
    records.put(namespace, scope, entry.key, value, person=True, tx=tx)
    return []
