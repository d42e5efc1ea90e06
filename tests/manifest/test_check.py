"""What is said of a manifest as a whole: everything at once, misspellings as one thing, levels, limits, values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.errors import ManifestError
from talekeeper.manifest import SearchTable, read_manifest
from talekeeper.manifest.codes import Code
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.loader import Checked, check_file, examine
from talekeeper.manifest.package import Folder
from talekeeper.manifest.rules.contributions import POINTS, cron_fault
from talekeeper.manifest.rules.point import RuleContext

Check = Callable[..., Checked]
Found = Callable[..., list[str]]
HAS = "which entries.schema.json does not have; it has body, title, tags, pages, hidden"
NO_BODI = f'TK307 search.text names "bodi", {HAS}'


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('schema = "x\\ny"', "TK207"),
        ('schema = ""', "TK207"),
        ("schema = 5", "TK203"),
        ('seed = ""', "TK207"),
        ('on-limit = "oldestt"', "TK205"),
    ],
)
def test_a_value_that_is_none_is_told_once(found: Found, head: str, line: str, code: str) -> None:
    rest = "" if line.startswith("schema") else 'schema = "entries.schema.json"\n'

    told = found(f"{head}[contributes.data.entries]\n{rest}{line}\nsearch = {{ text = 'body' }}\n")

    assert [it.split()[1] for it in told] == [code]


@pytest.mark.parametrize("value", ["nan", "1e999", "2001-01-01", "9007199254740992"])
def test_what_json_does_not_have_is_told_once(found: Found, head: str, data: str, value: str) -> None:
    told = found(f"{head}{data}limit = {value}\n")

    assert [it.split()[1] for it in told] == ["TK007"]


def test_three_faults_of_one_file_are_told_in_one_report(check: Check) -> None:
    checked = check(
        '[plugin]\nid = "lore"\napi = 1\nsummary = "Lore."\n\n'
        '[contributes.data.entries]\nschema = "entries.schema.json"\nserach = { text = "body" }\n\n'
        '[contributes.data.more]\nschema = "entries.schema.json"\nsearch = { text = "bodi" }\n'
    )

    assert [(str(it), it.hint) for it in checked.diagnostics] == [
        (
            'plugin.toml:1:2: TK204 no "version" in [plugin]',
            "The plugin's version (PEP 440), such as 0.1.0.",
        ),
        (
            'plugin.toml:8:1: TK221 unknown key "serach" in [contributes.data.entries]',
            'did you mean "search"?  The declaration that feeds memory-search.',
        ),
        (
            f"plugin.toml:12:19: {NO_BODI}",
            'did you mean "body"?',
        ),
    ]


def test_a_broken_manifest_leaves_the_others_readable(check: Check, tmp_path: Path, head: str, data: str) -> None:
    assert not check("serach = 1").holds
    other = tmp_path / "other"
    other.mkdir()
    (other / "entries.schema.json").write_text('{"type": "object", "properties": {"body": {"type": "string"}}}')
    (other / "plugin.toml").write_text(head + data)

    assert read_manifest(other / "plugin.toml").id == "lore"


def test_a_missing_and_an_unknown_key_that_resemble_each_other_are_one(found: Found) -> None:
    text = '[plugin]\nid = "lore"\nvresion = "1"\napi = 1\nsummary = "Lore."\nmodule = "code"\n'

    assert found(text + "[[contributes.commands]]\nid = 'check'\n") == ['3:1 TK221 unknown key "vresion" in [plugin]']


def test_what_a_misspelt_table_holds_is_checked_in_the_same_run(found: Found, head: str) -> None:
    text = (
        head + '[contribute.data.entries]\nschema = "entries.schema.json"\nserach = { txt = "bdy", weigth = "a lot" }\n'
    )

    assert found(text) == [
        '6:2 TK221 unknown key "contribute" in the manifest',
        '8:1 TK221 unknown key "serach" in [contributes.data.entries]',
        '8:12 TK221 unknown key "txt" in search',
        f"8:18 {NO_BODI}".replace("bodi", "bdy"),
        '8:25 TK221 unknown key "weigth" in search',
        '8:34 TK203 weight is "a lot", expected a number',
    ]


def test_diagnostics_come_in_the_order_of_the_file(check: Check) -> None:
    checked = check('zz = 1\n[permissions]\nhttp = ["A"]\nread = ["b"]\n[plugin]\nid = "A"\napi = "1"\nversion = "x"\n')

    places = [(it.line, it.column) for it in checked.diagnostics]
    assert places == sorted(places)
    assert len(places) == 8


def test_a_pointer_leads_to_the_value(check: Check, head: str) -> None:
    checked = check(head + '[contributes.data.entries]\nschema = "entries.schema.json"\nsearch = { text = 5 }\n')

    assert [it.pointer for it in checked.diagnostics] == ["/contributes/data/entries/search/text"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "plugin = 1", "[[plugin]]\n", "[plugin]\n", "[x]\na = 1\n"])
def test_a_file_without_a_plugin_table_does_not_hold(check: Check, text: str) -> None:
    assert not check(text).holds


def test_keys_of_a_newer_level_warn_and_the_rest_loads(check: Check, head: str, data: str) -> None:
    newer = head.replace("api = 1", "api = 9") + data + "mood = 1\n[contributes.dreams]\na = 1\n[later]\nb = 2\n"

    checked = check(newer)

    assert [(it.code, it.severity) for it in checked.diagnostics] == [("TK103", "warning")] * 3
    assert checked.manifest
    assert checked.manifest.api == 9
    assert checked.manifest.data[0].search == SearchTable(("body",))


def test_a_fault_of_a_newer_level_is_still_a_fault(found: Found, head: str) -> None:
    text = head.replace("api = 1", "api = 2") + "[contributes.data.entries]\nserach = {}\nschema = 5\n"

    assert found(text)[1:] == [
        '7:1 TK103 unknown key "serach" in [contributes.data.entries]',
        "8:10 TK203 schema is 5, expected text",
    ]


def test_a_rule_of_a_later_level_spares_earlier_manifests(folder: Path, head: str, data: str) -> None:
    later = Code("TK299", since=2)

    def rule(context: RuleContext) -> Iterator[Finding]:
        yield Finding(later, context.entries[0].path, "too old-fashioned")

    points = {**POINTS, "data": POINTS["data"]._replace(rules=(*POINTS["data"].rules, rule))}
    texts = [head + data, head.replace("api = 1", "api = 2") + data]

    old, new = (examine(it.encode(), Folder(folder), "plugin.toml", level=2, points=points) for it in texts)
    on_an_older_host = examine(texts[1].encode(), Folder(folder), "plugin.toml", level=1, points=points)

    assert [it.code for it in old.diagnostics] == []
    assert [it.code for it in new.diagnostics] == ["TK299"]
    assert [it.code for it in on_an_older_host.diagnostics] == []


def test_reading_raises_with_the_first_fault_and_all_diagnostics(folder: Path) -> None:
    path = folder / "plugin.toml"
    path.write_text('[plugin]\nid = "A"\nversion = "1"\napi = 1\nsummary = "x"\nzz = 1\n', encoding="utf-8")

    with pytest.raises(ManifestError, match=r"plugin\.toml:2:6: TK101 .* \(and 1 more\); did you mean") as caught:
        read_manifest(path)

    assert caught.value.data["diagnostics"] == check_file(path).diagnostics


def test_the_name_a_plugin_was_found_by_must_be_its_id(folder: Path, head: str, data: str) -> None:
    path = folder / "plugin.toml"
    path.write_text(head + data, encoding="utf-8")

    assert read_manifest(path, expected_id="lore").id == "lore"
    with pytest.raises(ManifestError, match="TK403"):
        read_manifest(path, expected_id="lorebook")


def test_a_manifest_that_is_not_there_or_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")

    for name in ("absent.toml", "folder.toml", "pipe.toml"):
        assert [it.code for it in check_file(tmp_path / name).diagnostics] == ["TK001"], name


def test_whole_numbers_may_be_written_with_a_point(check: Check, head: str, data: str) -> None:
    checked = check(head.replace("api = 1", "api = 1.0") + data + "limit = 5.0\n")

    assert checked.manifest
    assert checked.manifest.data[0].limit == 5


def test_everything_declared_is_in_the_values() -> None:
    manifest = read_manifest(Path(__file__).parent / "good" / "everything" / "plugin.toml")
    journal, scratch = manifest.data

    assert (manifest.id, manifest.version, manifest.api, manifest.module) == ("everything", "2.0.1", 1, "parts.code")
    assert (manifest.requires, manifest.optional, manifest.requires_host) == (("lorebook",), ("memory",), ">=0.1")
    assert (journal.path, journal.version, journal.scope, journal.append_only) == (
        "everything/journal",
        3,
        "preset",
        True,
    )
    assert (journal.limit, journal.on_limit, scratch.limit, scratch.on_limit) == (300, "oldest", None, "refuse")
    assert journal.search == SearchTable(
        ("entry", "moral"), "heading", "author", "written", "labels", None, 0.25, "owner", "recall"
    )
    assert scratch.search is None
    assert journal.schema["required"] == ["entry"]
    assert [it["name"] for it in manifest.contributes["tools"]] == ["Roll_Dice-2", "look"]
    assert manifest.contributes["tools"][0]["parameters"]["required"] == ["sides"]
    assert manifest.contributes["tools"][1] == {
        "name": "look",
        "description": "Looks at the table without touching anything on it.",
        "effects": "none",
    }
    assert [it["id"] for it in manifest.contributes["jobs"]] == [
        "extract",
        "nightly",
        "weekly",
        "hourly",
        "now_and_then",
    ]
    assert manifest.permissions["files"] == ("JOURNAL.md", "journal/**")


def test_seeds_are_declared_as_sorted_paths() -> None:
    root = Path(__file__).parent / "good" / "lorebook"

    (entries,) = read_manifest(root / "plugin.toml").data

    assert entries.seed == (root / "lore" / "coast.jsonl", root / "lore" / "hills.jsonl")


@pytest.mark.parametrize(
    ("job", "told"),
    [
        ('time = "24:00"', ["14:8 TK219"]),
        ('time = "3:30"', ["14:8 TK219"]),
        ('time = "03:30"\ntz = "Europe/Atlantis"', ["15:6 TK219"]),
        ('time = "03:30"\ntz = "../etc/passwd"', ["15:6 TK219"]),
        ('time = "03:30"\ntz = "Europe"', ["15:6 TK219"]),
        ('time = "03:30"\ntz = "UTC"', []),
        ('weekday = "monday"', ["13:6 TK216"]),
        ('cron = "* * * * * *"', ["14:8 TK219"]),
        ('cron = "61 * * * *"', ["14:8 TK219"]),
        ('cron = "0 0 31 2 *"', ["14:8 TK219"]),
        ('cron = "0 0 29 2 *"', []),
        ('cron = "@daily"', ["14:8 TK219"]),
        ('cron = "0 3 * * mon"\nweekday = "monday"', ["15:1 TK217"]),
    ],
)
def test_times_that_cannot_be_are_refused(found: Found, head: str, data: str, job: str, told: list[str]) -> None:
    text = head + 'module = "code"\n' + data + f'[[contributes.jobs]]\nid = "it"\non = "schedule"\n{job}\n'

    assert [" ".join(it.split()[:2]) for it in found(text)] == told


@given(st.text("0123456789*,-/#LW monfeb", max_size=20))
def test_no_cron_expression_makes_the_check_raise(expression: str) -> None:
    assert isinstance(cron_fault(expression), str)


@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("module", 'module = "{long}"'),
        ("schema", '[contributes.data.a]\nschema = "{long}"'),
        ("schema", '[contributes.data.a]\nschema = "{wide}/a.json"'),
        ("schema", '[contributes.data.a]\nschema = "a.json/{wide}"'),
        ("seed", '[contributes.data.a]\nschema = "entries.schema.json"\nseed = "{wide}/*.jsonl"'),
    ],
)
def test_a_name_longer_than_the_system_takes_is_told(check: Check, head: str, key: str, lines: str) -> None:
    checked = check(head + lines.format(long="x" * 254, wide="\U0001f56f" * 100))

    assert key in {it.pointer.rpartition("/")[2] for it in checked.diagnostics if it.severity == "error"}


def test_a_folder_that_cannot_be_listed_is_told(
    check: Check, head: str, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)

    checked = check(f'{head}module = "gone"\n{data}seed = "*.jsonl"\n[contributes.data.more]\nschema = "more.json"\n')

    assert [it.message for it in checked.diagnostics] == [
        'module "gone" cannot be looked for: permission denied',
        '"*.jsonl" cannot be read: permission denied',
        '"more.json" cannot be read: permission denied',
    ]
