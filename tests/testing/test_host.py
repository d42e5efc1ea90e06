"""The host that authors test their plugins with."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from talekeeper.api import ROOT
from talekeeper.errors import InputError, ManifestError, NotFound, ParameterError, PluginError, StoreError, UserError
from talekeeper.testing import START, Host

MakePlugin = Callable[..., Path]

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = '[[contributes.commands]]\nid = "go"\n'
REGISTER = """
    from talekeeper.api import hookimpl

    @hookimpl
    def talekeeper_register(registry):
        registry.command("go", go)

"""


@pytest.mark.parametrize(
    ("plugin", "says"),
    [
        (None, "plugin: NoneType is neither a pathlib.Path nor the id of an installed plugin"),
        (5, "plugin: int is neither a pathlib.Path nor"),
        ("../lore", "is no id of an installed plugin; give a folder as a pathlib.Path"),
    ],
)
def test_what_is_no_plugin_is_refused_and_forgotten(
    talekeeper_host: Host, make_plugin: MakePlugin, plugin: Any, says: str
) -> None:
    with pytest.raises(ParameterError, match=says):
        talekeeper_host.add(plugin)

    assert talekeeper_host.add(make_plugin()) == "lore"


def test_two_hosts_do_not_know_each_other(tmp_path: Path, make_plugin: MakePlugin) -> None:
    plugin = make_plugin()
    with Host(tmp_path / "one") as one, Host(tmp_path / "other") as other:
        for host in (one, other):
            host.add(plugin)
        one.records("entries", [{"name": "Hesper Lowe", "body": "Keeps the lamp lit."}])

        assert len(one.search("lamp").results) == 1
        assert other.search("lamp").results == ()


def test_another_thread_may_use_a_host(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    talekeeper_host.add(make_plugin())
    with ThreadPoolExecutor(1) as pool:
        pool.submit(talekeeper_host.records, "entries", [{"body": "Keeps the lamp lit."}]).result()

        found = pool.submit(talekeeper_host.search, "lamp").result()

    assert found.results == talekeeper_host.search("lamp").results != ()


def test_a_closed_host_says_so(tmp_path: Path, make_plugin: MakePlugin) -> None:
    host = Host(tmp_path / "home")
    host.add(make_plugin())
    host.close()
    host.close()

    for use in (lambda: host.search("lamp"), lambda: host.tell("Ice."), lambda: host.records("lore/entries", [{}])):
        with pytest.raises(StoreError, match="used after it had been closed"):
            use()


@pytest.mark.parametrize("place", ["a-file", "a-file/inner"])
def test_a_home_that_cannot_be_made_is_told(tmp_path: Path, place: str) -> None:
    (tmp_path / "a-file").touch()

    with pytest.raises(InputError, match="no home can be made there: "):
        Host(tmp_path / place)


def test_records_are_written_indexed_and_found(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    talekeeper_host.add(make_plugin())

    (record,) = talekeeper_host.records("entries", [{"name": "Hesper Lowe", "body": "Keeps the lamp lit."}])
    (hit,) = talekeeper_host.search("lamp").results

    assert (record.namespace, record.value["name"], record.coordinate) == ("entries", "Hesper Lowe", ROOT)
    assert (hit.id, hit.title, hit.plugin, hit.namespace) == (record.key, "Hesper Lowe", "lore", "entries")


def test_a_mapping_gives_the_keys_and_no_values_show_what_is_there(
    talekeeper_host: Host, make_plugin: MakePlugin
) -> None:
    talekeeper_host.add(make_plugin())
    talekeeper_host.records("lore/entries", {"lamp": {"body": "a lamp"}, "boat": {"body": "a boat"}})

    live = talekeeper_host.records("entries")

    assert [record.key for record in live] == ["lamp", "boat"]


def test_more_records_than_a_page_are_all_given(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    talekeeper_host.add(make_plugin())

    live = talekeeper_host.records("entries", [{"body": f"lamp {number}"} for number in range(1001)])

    assert len({record.key for record in live}) == 1001


def test_a_value_that_does_not_fit_is_named(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    talekeeper_host.add(make_plugin())

    with pytest.raises(ParameterError, match="lore/entries/body: must be of type string"):
        talekeeper_host.records("entries", [{"body": 3}])


def test_a_bare_name_that_is_nobodys_or_of_several_is_told(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    talekeeper_host.add(make_plugin("lore"))
    talekeeper_host.add(make_plugin("more"))

    with pytest.raises(NotFound, match="several plugins have a namespace 'entries'; there are lore/entries, more/"):
        talekeeper_host.records("entries")
    with pytest.raises(NotFound, match="no plugin has a namespace 'facts'; there are lore/entries, more/entries"):
        talekeeper_host.records("facts")


def test_nothing_installed_is_found(talekeeper_host: Host) -> None:
    talekeeper_host.tell("The lamp is lit.")

    with pytest.raises(NotFound, match="there is no plugin 'memory'"):
        talekeeper_host.records("memory/facts")


def test_an_installed_plugin_is_added_by_its_id(talekeeper_host: Host) -> None:
    plugin = talekeeper_host.add("memory")

    talekeeper_host.records("memory/cards", [{"name": "Mira", "body": "The ferrywoman."}])
    assert plugin == "memory"
    assert talekeeper_host.search("ferrywoman").results[0].title == "Mira"


def test_an_id_that_is_not_installed_is_told(talekeeper_host: Host) -> None:
    with pytest.raises(NotFound, match="there is no plugin 'lorebock'"):
        talekeeper_host.add("lorebock")


def test_a_manifest_that_does_not_hold_is_told_whole(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    root = make_plugin(body='[contributes.data.entries]\nschma = "entries.schema.json"\nsearch = { txt = "body" }\n')

    with pytest.raises(ManifestError) as raised:
        talekeeper_host.add(root)

    assert str(raised.value).count("did you mean") == 2
    assert {diagnostic.line for diagnostic in raised.value.data["diagnostics"]} == {8, 9}


def test_a_plugin_that_lacks_another_is_told(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    with pytest.raises(PluginError, match="it is blocked: it requires plugin 'ferry', which is not there"):
        talekeeper_host.add(make_plugin(head='requires = ["ferry"]\n'))


def test_what_is_declared_and_not_registered_is_told_when_it_is_added(
    talekeeper_host: Host, make_plugin: MakePlugin
) -> None:
    code = REGISTER.replace("go", "stop") + "    def stop(ctx, arguments): ...\n"

    with pytest.raises(PluginError, match="declares command 'go', the code does not register it"):
        talekeeper_host.add(make_plugin(head='module = "code"\n', body=COMMANDS, code__py=code))


def test_the_plugins_own_exception_reaches_the_test(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    code = REGISTER + "    def go(ctx, arguments): return {}['lamp']\n"
    talekeeper_host.add(make_plugin(head='module = "code"\n', body=COMMANDS, code__py=code))

    with pytest.raises(KeyError, match="lamp"):
        talekeeper_host.run("lore/go")


def test_without_strictness_a_fault_is_what_people_see(tmp_path: Path, make_plugin: MakePlugin) -> None:
    code = REGISTER + "    def go(ctx, arguments): return {}['lamp']\n"

    with Host(tmp_path / "home", strict=False) as host:
        host.add(make_plugin(head='module = "code"\n', body=COMMANDS, code__py=code))
        with pytest.raises(PluginError, match="command go raised KeyError"):
            host.run("lore/go")


def test_commands_importers_and_settings_work_as_for_people(talekeeper_host: Host, tmp_path: Path) -> None:
    talekeeper_host.add(EXAMPLES / "rumours")
    file = tmp_path / "town.rumours"
    file.write_text("Oda: A light in the lamp house.\n", encoding="utf-8")

    noted = talekeeper_host.run("rumours/hear", {"text": "The ferryman is dead.", "says": "the baker"})
    imported = talekeeper_host.import_file(file)
    talekeeper_host.configure("rumours/most", 1)

    assert noted == {"noted": True}
    assert (imported.importer, len(imported.added)) == ("rumours/lines", 1)
    assert len(talekeeper_host.records("heard")) == 2
    assert len(talekeeper_host.run("rumours/about", {"subject": "ferryman light"})) == 1
    with pytest.raises(UserError, match="no rumour 'k'"):
        talekeeper_host.run("rumours/settle", {"key": "k", "truth": "true"})


def test_what_is_told_is_history_with_turns(talekeeper_host: Host) -> None:
    opening = talekeeper_host.tell("Fog over the harbour.", speaker="Narrator")
    asked = talekeeper_host.tell("I ring the bell.", speaker="Ann", role="player")
    answer = talekeeper_host.tell("Nobody comes.")

    found = talekeeper_host.search("bell").results

    assert [message.turn for message in (opening, asked, answer)] == [0, 1, 1]
    assert (found[0].id, found[0].turn, found[0].speaker) == (asked.id, 1, "Ann")
    assert talekeeper_host.session().player == {"name": "Ann"}


def test_sessions_are_apart_and_can_be_gone_back_to(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    talekeeper_host.add(make_plugin())
    talekeeper_host.records("entries", [{"body": "a lamp"}])

    other = talekeeper_host.session("other", locale="zh")
    there = talekeeper_host.records("entries")
    talekeeper_host.session()

    assert (other.id, other.locale, there) == ("other", "zh", ())
    assert len(talekeeper_host.records("entries")) == 1


def test_a_plugin_added_later_is_in_the_session_too(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    talekeeper_host.session()

    talekeeper_host.add(make_plugin(body=f"{ENTRIES_SEEDED}", seed__jsonl='{"id": "lamp", "body": "a lamp"}\n'))

    assert [hit.id for hit in talekeeper_host.search("lamp").results] == ["lamp"]


ENTRIES_SEEDED = (
    '[contributes.data.entries]\nschema = "entries.schema.json"\nseed = "seed.jsonl"\nsearch = { text = "body" }\n'
)


def test_the_clock_moves_when_told(talekeeper_host: Host, make_plugin: MakePlugin) -> None:
    code = REGISTER + "    def go(ctx, arguments): return ctx.clock.now().isoformat()\n"
    talekeeper_host.add(make_plugin(head='module = "code"\n', body=COMMANDS, code__py=code))
    before = talekeeper_host.run("lore/go")

    talekeeper_host.clock.advance(90)

    assert before == START.isoformat()
    assert talekeeper_host.run("lore/go") == "2001-01-01T00:01:30+00:00"


def test_a_closed_host_leaves_no_code_behind(tmp_path: Path) -> None:
    before = set(sys.modules)

    with Host(tmp_path / "home") as host:
        host.add(EXAMPLES / "rumours")

    assert {name for name in set(sys.modules) - before if "rumours" in name} == set()


def test_two_hosts_know_nothing_of_one_another(tmp_path: Path, make_plugin: MakePlugin) -> None:
    root = make_plugin()
    with Host(tmp_path / "one") as one, Host(tmp_path / "two") as two:
        one.add(root)
        two.add(root)

        one.records("entries", [{"body": "a lamp"}])

        assert two.records("entries") == ()
