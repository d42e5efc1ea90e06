"""Writes what is generated from the manifest's model and codes; `--check` only says whether the files are up to date.

schema/v1/plugin.schema.json        the JSON Schema editors use
kernel/talekeeper/manifest/         the same file, as the host and validate-plugin read it
schema/plugin-manifest.md           the same as a page
docs/reference/diagnostics.md       every code with its rule, its cure and an example of what validate-plugin prints
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from talekeeper.manifest import BY_ID, LEVEL, PUBLISHED_SCHEMA, generated_schema

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "manifest" / "golden"

FAMILIES = {
    "TK0": "File and syntax",
    "TK1": "Identity and versions",
    "TK2": "Contributions",
    "TK3": "Across files",
    "TK4": "Packaging",
    "TK5": "Code, with `--imports`",
    "TK9": "Style",
}

INTRODUCTION = """# Diagnostics

What `validate-plugin` and the host say of a manifest, code by code. An error keeps a plugin out; a warning does not.
Numbers are never used again for another rule. `validate-plugin --explain CODE` prints the same text.
"""


SCHEMA = f"v{LEVEL}/plugin.schema.json"
KEYS_INTRODUCTION = f"""# plugin.toml, key by key

Generated from the model that the host itself uses, like [`{SCHEMA}`]({SCHEMA}).
What a schema cannot say is in the [list of diagnostics](../docs/reference/diagnostics.md); the
[manifest reference](../docs/reference/manifest.md) explains the tables with an example.
"""

COMPLAINTS = {
    "one plugin that raises at import makes even `--help` fail": "TK501",
    "switching plugins off takes effect after they have run": "TK404",
    "the manifest is missing from the wheel": "TK401, TK409",
    "the manifest is missing from the project": "TK001, TK401, TK402",
    "a regular expression is shown as the error text": "TK101, TK208, TK211, TK213, TK214",
    '"not found" is said of an invalid manifest': "TK001 to TK007",
    "a new rule turns old plugins red overnight": "TK103, and the level each rule was introduced with",
    "a newer key kills a plugin on an older host": "TK103, TK105",
    "a typo passes silently because unknown keys are ignored": "TK201, TK221",
    "the wrong kind of thing is silently skipped": "TK201, TK202, TK203",
    "what code and manifest both state drifts apart": "TK407, TK504, TK505",
    "a failed reload breaks unrelated plugins": "TK506",
    "old code is served after a reload": "TK506",
    "a plugin that failed is left half registered": "TK503",
    "two validators disagree": "none: the host, `validate-plugin` and the published schema are held equal by tests",
}


def outputs() -> dict[Path, str]:
    """Path → text of every generated file."""
    schema = generated_schema()
    published = json.dumps(schema, ensure_ascii=False, indent=2) + "\n"
    return {
        ROOT / "schema" / f"v{LEVEL}" / "plugin.schema.json": published,
        PUBLISHED_SCHEMA: published,
        ROOT / "schema" / "plugin-manifest.md": reference_text(schema),
        ROOT / "docs" / "reference" / "diagnostics.md": diagnostics_text(),
    }


def diagnostics_text() -> str:
    """The page of all codes, family by family."""
    parts = [INTRODUCTION]
    for family, title in FAMILIES.items():
        parts.append(f"## {family}: {title}\n")
        for code in BY_ID.values():
            if code.id.startswith(family):
                example = (GOLDEN / f"{code.id}.txt").read_text(encoding="utf-8").rstrip("\n")
                parts.append(
                    f"### {code.id}\n\n*{code.severity}*: {code.title}.\n\n{code.rule}\n\n"
                    f"**Cure.** {code.cure}\n\n```text\n{example}\n```\n"
                )
    rows = "\n".join(f"| {complaint} | {where} |" for complaint, where in COMPLAINTS.items())
    parts.append(
        "## What authors complain of elsewhere\n\nEach of these was met by somebody with another host's manifests.\n\n"
        f"| complaint | what is said of it here |\n| --- | --- |\n{rows}\n"
    )
    return "\n".join(parts)


def reference_text(schema: Mapping[str, Any]) -> str:
    """The page of a published schema."""
    return "\n".join([KEYS_INTRODUCTION, *_tables(schema)])


def _tables(schema: Mapping[str, Any]) -> Iterator[str]:
    definitions: Mapping[str, Any] = schema["$defs"]
    yield from _section("[plugin]", definitions["Plugin"])
    for point, table in definitions["Contributes"]["properties"].items():
        if "patternProperties" in table:
            header, entry = f"[contributes.{point}.<name>]", next(iter(table["patternProperties"].values()))
        else:
            header, entry = f"[[contributes.{point}]]", table["items"]
        inner = _definition(definitions, entry)
        yield from _section(header, inner)
        for key, value in inner["properties"].items():
            if "$ref" in value:
                yield from _section(f"{header} {key}", _definition(definitions, value))
    yield from _section("[permissions]", definitions["Permissions"])
    yield "## `[x]`\n\nFree notes, never read by the host.\n"


def _definition(definitions: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definitions[value["$ref"].rsplit("/", 1)[-1]]
    return found


def _section(header: str, table: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{header}`\n\n{table['description']}\n"
    yield "| key | value | without it | meaning |\n| --- | --- | --- | --- |"
    needed = table.get("required", ())
    for key, value in table["properties"].items():
        absent = "an error" if key in needed else _default(value)
        yield f"| `{key}` | {_kind(value)} | {absent} | {value.get('description', '')} |"
    yield ""


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, str):
        return f'`"{default}"`'
    if isinstance(default, list):
        return f"`{default}`"
    return "" if default is None else f"`{default:g}`"


def _kind(value: Mapping[str, Any]) -> str:
    if "anyOf" in value:
        return " or ".join(_kind(it) for it in value["anyOf"])
    if "enum" in value:
        return " · ".join(f'`"{it}"`' for it in value["enum"])
    if "$ref" in value:
        return "table"
    if value["type"] == "array":
        return f"list of {_kind(value['items'])}"
    return f"{_WORDS[value['type']]}{_bounds(value)}"


def _bounds(value: Mapping[str, Any]) -> str:
    if value["type"] == "string":
        return f" of at most {value['maxLength']:,} characters" if "maxLength" in value else ""
    low, high = value.get("minimum"), value.get("maximum")
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    above = value.get("exclusiveMinimum")
    return f" above {above:g}, at most {high:g}" if above is not None and high is not None else ""


_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def main() -> int:
    """Writes the files, or with `--check` compares them; 1 when one is not as it would be written."""
    stale = [path for path, text in outputs().items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" not in sys.argv[1:]:
        for path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(outputs()[path], encoding="utf-8")
    for path in stale:
        print(f"{os.path.relpath(path, ROOT)}: {'out of date' if '--check' in sys.argv[1:] else 'written'}")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
