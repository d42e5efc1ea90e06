"""World files: a TOML file → what a story begins with → a new session that has it, or one sentence with the line.

A world names its opening, its player and its preset, and gives plugins their first records. It names plugins; nothing
here does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from talekeeper.config import Key, KeyPath, Places, did_you_mean, key_faults, parse
from talekeeper.db import Tx, dumps
from talekeeper.errors import ImportFileError, NotFound, ParameterError, StoreError
from talekeeper.exchange import opened
from talekeeper.home import Home
from talekeeper.json_schema import schema_fault
from talekeeper.manifest import Namespace
from talekeeper.story import Draft, Session, check_line, check_name, scope_of
from talekeeper.text import check_text, is_array, is_table

_LIMIT = 4 * 1024 * 1024  # bytes: some thousand pages of lore

_TEXTS = ("title", "locale", "preset", "narrator", "opening", "persona", "author_note")
_KEYS = {**dict.fromkeys(_TEXTS, Key.text()), "player": Key.table(), "plugin": Key.table()}
_NAMES = frozenset({"locale", "preset"})
_LINES = frozenset({"narrator"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A record for `plugin/namespace`; an empty `key` is one of the kernel's making. `steps` lead to it in the file."""

    path: str
    key: str
    value: Mapping[str, Any]
    steps: KeyPath


@dataclass(frozen=True, slots=True)
class World:
    """What a world file says; what it does not say is empty. `player` has a `name` when there is a player."""

    file: str
    title: str = ""
    locale: str = ""
    preset: str = ""
    narrator: str = ""
    opening: str = ""
    persona: str = ""
    author_note: str = ""
    player: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entries: tuple[Entry, ...] = ()
    places: Places = field(default_factory=Places, repr=False)

    def fault(self, steps: KeyPath, what: str, *, cure: str = "", key: bool = False) -> ImportFileError:
        """The error about a place in the file; `key` when the key itself is at fault and not its value."""
        line = self.places.span(steps, "key" if key else "value").line
        return ImportFileError(self.file, line, what, cure=cure)

    @property
    def settings(self) -> dict[str, Any]:
        """What a session keeps of it beside its messages and records.

        All of it is kept as the file's too: it stands in prompts, and nobody here has typed it.
        """
        said = {
            "player": dict(self.player),
            "narrator_name": self.narrator.strip(),
            "persona": self.persona.strip(),
            "author_note": self.author_note.strip(),
        }
        given = {name: value for name, value in said.items() if value}
        return {**given, "world": given} if given else {}


def read_world(name: str) -> World:
    """Reads a file, `-` for standard input; raises `ImportFileError` with file, line and the cure."""
    with opened(name) as stream:
        raw = stream.read(_LIMIT + 1)
    source = parse(raw, _LIMIT)
    for fault in source.faults:
        line = (fault.span or source.places.span(fault.path, "value")).line
        raise ImportFileError(name, line, fault.message, cure=fault.hint)
    document = dict(source.data or {})
    bare = World(name, places=source.places)
    for wrong in key_faults(document, _KEYS):
        raise bare.fault(wrong.path, f"{wrong.path[-1]}: {wrong.what}", cure=wrong.cure, key=wrong.on == "key")
    texts = {key: _text(bare, key, document[key]) for key in _TEXTS if key in document}
    return World(
        name,
        **texts,
        player=_player(bare, document.get("player", {})),
        entries=tuple(_entries(bare, document.get("plugin", {}))),
        places=source.places,
    )


def _text(world: World, key: str, value: str) -> str:
    try:
        if key in _LINES:
            return check_line(value, key)
        return check_name(value, key, empty=True) if key in _NAMES else check_text(value, key)
    except ParameterError as fault:
        raise world.fault((key,), f"{key}: {fault.what}", cure=fault.cure) from fault


def _player(world: World, value: Mapping[str, Any]) -> Mapping[str, Any]:
    for key, said in value.items():
        if not isinstance(said, (str, int, float, bool)):
            raise world.fault(("player", key), f"{key} of the player is text or a number")
    name = value.get("name")
    if value and (not isinstance(name, str) or not name.strip()):
        raise world.fault(("player",), "the player has no name", cure='write name = "…" under [player]', key=True)
    return value


def _entries(world: World, plugins: Mapping[str, Any]) -> Iterator[Entry]:
    for plugin, namespaces in plugins.items():
        cure = f"write [plugin.{plugin}.NAMESPACE.KEY] and its properties below"
        for name, records in _table(world, ("plugin", plugin), namespaces, cure).items():
            yield from _records(world, ("plugin", plugin, name), f"{plugin}/{name}", records)


def _records(world: World, steps: KeyPath, path: str, records: object) -> Iterator[Entry]:
    header = f"plugin.{path.replace('/', '.')}"
    if is_array(records):
        for index, value in enumerate(records):
            place = (*steps, index)
            yield Entry(path, "", _table(world, place, value, f"write [[{header}]] and its properties below"), place)
        return
    for key, value in _table(world, steps, records, f"write [{header}.KEY] and its properties below").items():
        place = (*steps, key)
        record = _table(world, place, value, f"write [{header}.{key}] and its properties below, or [[{header}]]")
        try:
            check_name(key, "key")
        except ParameterError as fault:
            raise world.fault(place, f"key: {fault.what}", cure=fault.cure, key=True) from fault
        yield Entry(path, key, record, place)


def _table(world: World, steps: KeyPath, value: object, cure: str) -> dict[str, Any]:
    if not is_table(value):
        raise world.fault(steps, f"{'.'.join(map(str, steps))} is a table", cure=cure)
    return value


Checked = tuple[Entry, Namespace, Any]


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
    checked = [_checked(home, workspace, world, plugins, entry) for entry in world.entries]
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


def _checked(home: Home, workspace: str, world: World, plugins: Sequence[str], entry: Entry) -> Checked:
    """The entry, with its namespace, whose schema it fits, and its value as it is stored."""
    plugin, steps = entry.path.partition("/")[0], entry.steps
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
    try:
        value = json.loads(dumps(entry.value, entry.path))
    except ParameterError as fault:
        raise world.fault(steps, str(fault)) from fault
    wrong = schema_fault(namespace.schema, value)
    if wrong is not None:
        raise _misfit(world, entry, namespace, *wrong)
    return entry, namespace, value


def _misfit(world: World, entry: Entry, namespace: Namespace, place: str, what: str) -> ImportFileError:
    """The fault at its property; one that the schema does not know is pointed at by its name."""
    inner = tuple(int(step) if step.isdigit() else step for step in place.split("/") if step)
    steps = (*entry.steps, *inner)
    known = list(namespace.schema.get("properties", ()))
    own = () if inner else entry.value
    named = next((key for key in own if f"'{key}'" in what and key not in known), "")
    cure = (did_you_mean(named, known) if named else "") or f"see the record schema of {entry.path}"
    path = f"{entry.path}/{place}".rstrip("/")
    return world.fault((*steps, named) if named else steps, f"{path}: {what}", cure=cure, key=bool(named))


def _fill(home: Home, session: Session, world: World, checked: Sequence[Checked], tx: Tx) -> Begun:
    if world.opening.strip():
        opening = Draft("narrator", world.opening.strip(), speaker=world.narrator.strip(), kind="opening")
        home.story.messages.append(session.address, [opening], tx=tx)
    if world.settings:
        home.story.sessions.configure(session.address, settings=world.settings, tx=tx)
    kept: list[str] = []
    for entry, namespace, value in checked:
        try:
            kept += _write(home, session, entry, namespace, value, tx)
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
