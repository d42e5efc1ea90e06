"""What people set for the narration: presets, and the settings of one session.

A preset is `presets/<name>.toml` of a workspace's folder, else of the home:

system = "You narrate a noir story."      # left out: the built-in text in the session's language
slot = "big"                              # the model that speaks, narrator when left out
reply = 800                               # tokens of an answer at most
plugins = ["memory"]                      # what new sessions with the preset have; left out: all that are enabled

[sampling]
temperature = 0.9

A session's settings say who speaks, for whom, and the author's note:

{"narrator": "big", "narrator_name": "Edda", "player": {"name": "Mara"}, "persona": "Mara, a smuggler with one eye.",
"author_note": "Keep it slow.", "world": {…}, "imported": {"player": "Anon", "narrator": "Seraphina"}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from talekeeper.errors import NotFound, ParameterError
from talekeeper.models import NARRATOR, sampling_fault
from talekeeper.story import Session, check_name


@dataclass(frozen=True, slots=True)
class Preset:
    """An agent's set-up. `plugins` is None where the preset leaves the choice to the workspace."""

    name: str = ""
    system: str = ""
    slot: str = NARRATOR
    reply: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plugins: tuple[str, ...] | None = None


def read_preset(home: Path, workspace: str, name: str) -> Preset:
    """Reads a preset; an empty name is the built-in one. Raises `NotFound`, or `InputError` naming file and key."""
    if not name:
        return Preset()
    check_name(name, "preset")
    if Path(name).name != name or name in {".", ".."}:
        raise ParameterError("preset", f"{name!r} cannot be a file's name", cure="leave out slashes")
    places = [folder / "presets" / f"{name}.toml" for folder in (home / "workspaces" / workspace, home)]
    for path in places:
        if path.is_file():
            return _read(path, name)
    raise NotFound(f"there is no preset {name!r}", cure=f"write {places[-1]}, or give the session another preset")


def _read(path: Path, name: str) -> Preset:
    from talekeeper.config import Key, key_faults, read_toml  # noqa: PLC0415 - sessions without a preset do not need it

    keys = {
        "system": Key.text(),
        "slot": Key.text("the name of a model slot", empty=False),
        "reply": Key.whole(1, expected="a number of tokens from 1"),
        "sampling": Key.table(),
        "plugins": Key.texts("a list of plugin ids"),
    }
    document = read_toml(path, "the preset").data or {}
    for fault in key_faults(document, keys):
        raise ParameterError(f"{path}: {fault.path[-1]}", fault.what, cure=fault.cure)
    if reason := sampling_fault(document.get("sampling", {})):
        raise ParameterError(f"{path}: sampling", reason)
    values: dict[str, Any] = {key: tuple(value) if key == "plugins" else value for key, value in document.items()}
    return Preset(name=name, **values)


@dataclass(frozen=True, slots=True)
class NarrationSettings:
    """`slot` is that of the model that speaks, empty for the preset's; `name` is the narrator's, `player` the player's.

    The texts are the person's own, except those that `from_world` names: a world file gave them.
    """

    slot: str = ""
    name: str = ""
    player: str = ""
    persona: str = ""
    note: str = ""
    from_world: tuple[str, ...] = ()


def narration_settings(session: Session) -> NarrationSettings:
    """Reads the settings; raises `ParameterError` for one that is no text.

    Without a name given, those of the imported chat are used, and for the narrator in the end the slot's that the
    session names, for where several speak in turn.
    """
    slot, persona, note = _text(session, "narrator"), _text(session, "persona"), _text(session, "author_note")
    imported, given = _table(session, "imported"), _table(session, "world")
    name = _text(session, "narrator_name") or _stripped(imported.get("narrator")) or slot
    player = _stripped(_table(session, "player").get("name")) or _stripped(imported.get("player"))
    from_world = (key.replace("_", " ") for key, value in given.items() if value and session.settings.get(key) == value)
    return NarrationSettings(slot, name, player, persona, note, tuple(from_world))


def _table(session: Session, key: str) -> Mapping[str, object]:
    value: object = session.settings.get(key)
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _stripped(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _text(session: Session, key: str) -> str:
    value = session.settings.get(key, "")
    if not isinstance(value, str):
        raise ParameterError(f"session {session.id}: {key}", "this setting is text", cure="set it again, or to nothing")
    return value.strip()
