"""A host for tests: a home of its own, only the plugins that are added, and a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal, Self, cast

from talekeeper.api import Answer, Json, MessageView, Record, SessionView
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases
from talekeeper.embedding import Semantics, open_encoder
from talekeeper.errors import InputError, ManifestError, NotFound, ParameterError, PluginError
from talekeeper.ids import SortableIds
from talekeeper.manifest import Namespace, installed
from talekeeper.memory_search import read_question, search_memory
from talekeeper.models import NO_MODELS, Cancel, ChatModel, Models, ModelSource, ProviderSettings
from talekeeper.plugin_context import Imported, import_lore, message_view, record_view, run_command, session_view
from talekeeper.plugins import Host as PluginHost
from talekeeper.plugins import Overrides, Plugin
from talekeeper.search import Index
from talekeeper.services import Services
from talekeeper.story import Address, Draft, Job, Story, scope_of
from talekeeper.testing.script import OneModel, Script, ScriptedNarrator, say
from talekeeper.turn import Approval, DryRun, JobRunner, Narrator, TurnResult

START = datetime(2001, 1, 1, tzinfo=UTC)
"""What the clock of a new host says."""

_WORKSPACE = "test"
_PAGE = 1_000


class Host:
    """Everything of Talekeeper but its faces, in a folder of the test's own.

    It finds nothing that happens to be installed, and uses no model and no network. What a plugin's code raises reaches
    the test as it is, unless `strict` is false: then it becomes a `PluginError`, as it does for people. Use it in a
    `with`, or ask pytest for the fixture `talekeeper_host`.
    """

    def __init__(self, folder: Path, *, now: datetime = START, strict: bool = True) -> None:
        self.clock = FixedClock(now)
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or "the system refuses").lower()
            raise InputError(f"no home can be made there: {reason}", where=str(folder), cure="give a folder") from None
        # A test's store need not outlive a power cut.
        self._db = Database.open(folder / "talekeeper.sqlite", clock=self.clock, synchronous="OFF")
        index = Index()
        story = Story(self._db, index, self.clock, SortableIds(self.clock))
        self._installed: set[str] = set()
        plugins = PluginHost(story, self.clock, overrides=Overrides(strict=strict), entries=self._entries)
        self._services = Services(story, index, plugins, self.clock, NO_MODELS)
        self._leases = Leases(folder / "leases", self._db)
        self._address: Address | None = None

    # Plugins

    def add(self, plugin: Path | str) -> str:
        """Enables a plugin, loads its code, and gives its id. A session that is there already gets it too.

        `plugin` is the folder of its package or project, or, as text, the id of one installed in this environment.
        Raises ManifestError with every diagnostic, PluginError with the reason it does not work, or what its code
        raises when it is imported or registers.
        """
        host = self._services.host
        _refuse_rubbish(plugin)
        found = self._install(plugin) if isinstance(plugin, str) else host.add(plugin)
        if found.manifest is None:
            lines = [f"{one}; {one.hint}" if one.hint else str(one) for one in found.diagnostics]
            raise ManifestError("\n".join(lines) or found.reason, diagnostics=list(found.diagnostics))
        host.enable(found.id)
        added = host.roster(_WORKSPACE).by_id[found.id]
        if not added.works:
            raise PluginError(f"it is {added.state}: {added.reason}", where=found.id, plugin=found.id)
        host.functions(added)
        if self._address is not None:
            host.change_session(self._address, add=[found.id])
        return found.id

    def configure(self, setting: str, value: Json) -> None:
        """Sets a setting, `plugin/key`; None brings its default back."""
        plugin, _, key = setting.partition("/")
        self._services.host.configure(plugin, key, value)

    # The story

    def session(self, name: str = "story", *, preset: str = "", locale: str = "en", title: str = "") -> SessionView:
        """Goes to a session; one that is not there is made with the plugins added so far.

        What needs a session while there is none makes the one called "story".
        """
        story = self._services.story
        if not any(session.id == name for session in story.sessions.all(_WORKSPACE)):
            plugins = self._services.host.enabled(_WORKSPACE)
            story.sessions.create(
                _WORKSPACE, session_id=name, preset=preset, locale=locale, title=title, plugins=plugins
            )
        self._address = Address(_WORKSPACE, name)
        self._services.host.ready(self._address)
        return session_view(story, story.sessions.get(self._address))

    def tell(
        self, text: str, *, speaker: str = "", role: Literal["player", "narrator"] = "narrator", time: str | None = None
    ) -> MessageView:
        """Adds a message at the head; one of the player's begins a turn."""
        draft = Draft(role, text, speaker=speaker, time=time)
        (message,) = self._services.story.messages.append(self._here(), [draft])
        return message_view(message)

    def turn(
        self,
        text: str | None,
        *,
        reply: str = "The story goes on.",
        narrator: ChatModel | Script | None = None,
        speaker: str = "",
        approve: Callable[[Approval], bool] | None = None,
    ) -> TurnResult:
        """Plays a whole turn at the head; without a text the story continues by itself.

        The narrator answers with `reply`, or is a model or a script of its own: steps as a `ScriptedServer` takes them,
        or a function such as `gullible_narrator`. Jobs that the turn starts are noted; `run_jobs` runs them.
        """
        telling = self._narrator([say(reply)] if narrator is None else narrator)
        return telling.turn(self._here(), text, speaker=speaker, approve=approve)

    def retry(self, *, reply: str = "The story goes on.", narrator: ChatModel | Script | None = None) -> TurnResult:
        """Has the newest turn answered once more, as another take."""
        return self._narrator([say(reply)] if narrator is None else narrator).retry(self._here())

    def undo(self) -> None:
        """Goes back over the newest turn."""
        self._services.story.tree.undo(self._here())

    def redo(self) -> None:
        """Goes to where `undo` or `retry` left."""
        self._services.story.tree.redo(self._here())

    def switch_take(self, number: int) -> None:
        """Goes to another answer to the newest turn, counted from 1."""
        self._services.story.tree.switch_take(self._here(), number)

    def fork(self, message_id: str) -> None:
        """Goes back to a message on any branch, and starts a branch there."""
        story, here = self._services.story, self._here()
        found = story.messages.by_id(here, [message_id]).get(message_id)
        if found is None:
            raise NotFound(f"there is no message {message_id!r}", where=here.session)
        story.tree.fork(here, found.coordinate)

    def messages(self) -> tuple[MessageView, ...]:
        """The messages from the first to the head."""
        return tuple(map(message_view, self._services.story.messages.read(self._here())))

    def edit(self, message_id: str, text: str) -> None:
        """Gives a message another text."""
        self._services.story.messages.edit(self._here(), message_id, text)

    def delete(self, message_id: str) -> None:
        """Takes a message out of the story."""
        self._services.story.messages.delete(self._here(), message_id)

    def run_jobs(self, model: ChatModel | Script | None = None, *, cancel: Cancel | None = None) -> list[Job]:
        """Runs the jobs that are due and gives each as it ended; without a `model` none is configured."""
        models: ModelSource = NO_MODELS if model is None else OneModel(_model(model))
        return JobRunner(self._services, models, self._leases).run(self._here(), cancel=cancel)

    def recall(self, text: str) -> DryRun:
        """What a turn with this text would show its narrator; nothing is written or counted."""
        return self._narrator(()).recall(self._here(), text)

    # Records, search, and what people run

    def records(
        self, namespace: str, values: Sequence[Mapping[str, Json]] | Mapping[str, Mapping[str, Json]] = ()
    ) -> tuple[Record, ...]:
        """Writes the values, as a person would by hand, and gives every record that is live then, oldest first.

        `namespace` is `plugin/namespace`, or its own name where only one added plugin has one of that name. A mapping
        gives the keys; else each value gets a key of the kernel's making. Raises ParameterError naming the property
        that does not fit the record schema, and LimitReached.
        """
        declared = self._namespace(namespace)
        records = self._services.story.records
        here = self._here()
        scope = scope_of(declared, self._services.story.sessions.get(here))
        if isinstance(values, Mapping):
            for key, value in values.items():
                records.put(declared, scope, key, value, person=True)
        else:
            for value in values:
                records.add(declared, scope, value, person=True)
        live: list[Record] = []
        while page := records.list(declared, scope, after=live[-1].key if live else None, limit=_PAGE):
            live += map(record_view, page)
        return tuple(live)

    def search(self, query: str, **more: Json) -> Answer:
        """Asks as the narrator's tool memory-search does; `more` are the tool's other arguments."""
        return search_memory(self._services, self._here(), read_question({"query": query, **more}))

    def embed_with(self, provider: str, model: str = "", *, store: str = "") -> int:
        """Finds by meaning, too, from now on, with a plugin's provider `plugin/name`.

        Gives how many passages were embedded; called again, the newer ones. Their vectors are kept in a plugin's
        `store` of the same form, or without one in the home.
        """
        services = self._services
        provided = Models(provided=ProviderSettings(provider, model, store=store))
        semantics = Semantics(services.story, lambda: open_encoder(provided, services.host, services.clock))
        self._services = replace(services, semantics=semantics)
        return semantics.embed(self._here())

    def provider(self, path: str) -> Mapping[str, Any]:
        """What a plugin registered for its provider `plugin/name`: functions by name, version and models."""
        plugin, _, name = path.partition("/")
        functions = self._services.host.functions(self._services.host.roster(_WORKSPACE).by_id[plugin])
        found: Mapping[str, Any] | None = functions.get(("providers", name))
        if found is None:
            raise NotFound(f"there is no provider {path!r}", cure="name it as plugin.toml does")
        return found

    def run(self, command: str, arguments: Mapping[str, Json] | None = None) -> Json:
        """What the command `plugin/command` gives; what it writes is a person's act."""
        return run_command(self._services, self._here(), command, arguments or {})

    def import_file(self, file: Path, importer: str | None = None, *, replace: bool = False) -> Imported:
        """Reads a file with `plugin/importer`, or with the first added importer that takes files of its name."""
        return import_lore(self._services, self._here(), file, importer=importer, replace=replace)

    def close(self) -> None:
        """Lets go of the database and of every plugin's code."""
        self._services.host.close()
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _install(self, plugin: str) -> Plugin:
        self._installed.add(plugin)
        self._services.host.look_again()
        return self._services.host.plugin(plugin)

    def _entries(self) -> Iterator[EntryPoint]:
        return (entry for entry in installed() if entry.name in self._installed)

    def _narrator(self, narrator: ChatModel | Script) -> Narrator:
        return Narrator(self._services, OneModel(_model(narrator)), self._leases)

    def _here(self) -> Address:
        return self._address or Address(_WORKSPACE, self.session().id)

    def _namespace(self, name: str) -> Namespace:
        host = self._services.host
        if "/" in name:
            return host.namespace(name)
        every = [one for plugin in host.roster(_WORKSPACE).working for one in plugin.declared.data]
        found = [one for one in every if one.name == name]
        if len(found) != 1:
            who = "several plugins have" if found else "no plugin has"
            known = ", ".join(one.path for one in found or every) or "none"
            raise NotFound(f"{who} a namespace {name!r}", cure=f"there are {known}")
        return found[0]


def _model(narrator: ChatModel | Script) -> ChatModel:
    return cast("ChatModel", narrator) if hasattr(narrator, "stream") else ScriptedNarrator(cast("Any", narrator))


def _refuse_rubbish(plugin: object) -> None:
    """Says so before the host keeps it among its places."""
    if isinstance(plugin, str):
        if "/" in plugin or plugin.startswith("."):
            what = f"{plugin!r} is no id of an installed plugin"
            raise ParameterError("plugin", what, cure="give a folder as a pathlib.Path")
    elif not isinstance(plugin, Path):
        what = f"{type(plugin).__name__} is neither a pathlib.Path nor the id of an installed plugin"
        raise ParameterError("plugin", what, cure="give the folder of the package or project as a Path")
