"""TK0: the file itself and its syntax."""

from talekeeper.manifest.diagnostic import Code
from talekeeper.text import EXACT_INTEGER

UNREADABLE = Code(
    "TK001",
    "error",
    "there is nothing to read",
    "A plugin is described by a regular file called `plugin.toml` inside its package. `validate-plugin` takes that "
    "file, a folder with one, a wheel, or the name of an installed distribution.",
    "Check the spelling of the path or name, and the permissions of the file.",
)
TOO_LARGE = Code(
    "TK002",
    "error",
    "the manifest is too large",
    "A manifest holds at most 64 KiB; a larger file is refused before it is parsed, so that one plugin cannot slow "
    "down the discovery of all the others.",
    "Move long texts and data into files of their own: record schemas, seeds, documentation.",
)
TOO_DEEP = Code(
    "TK003",
    "error",
    "the manifest is nested too deeply",
    "Tables and arrays are nested at most 16 levels deep. Bracket nesting and dotted keys are counted before the "
    "file is parsed.",
    "Nothing a manifest declares needs more than seven levels; keep deep structures in a file of their own.",
)
NOT_UTF8 = Code(
    "TK004",
    "error",
    "the manifest is not UTF-8",
    "TOML is UTF-8, whatever the platform. The diagnostic points at the first byte that is not.",
    "Save the file as UTF-8. Editors on Windows may have written UTF-16 or a code page.",
)
SYNTAX = Code(
    "TK005",
    "error",
    "the manifest is not TOML",
    "The file must be valid TOML; the parser stops at the first place where it is not, so this is the only "
    "diagnostic of the file.",
    "Look at the character under the caret and at what stands before it: a missing quote, bracket, comma or equals "
    "sign.",
)
BYTE_ORDER_MARK = Code(
    "TK006",
    "error",
    "the manifest begins with a byte order mark",
    "TOML has no byte order mark, and parsers refuse the invisible character.",
    'Save the file as "UTF-8" instead of "UTF-8 with BOM".',
)
NOT_JSON = Code(
    "TK007",
    "error",
    "a value that JSON does not have",
    "Everything outside the free `[x]` table must be expressible in JSON, because the published schema, the plugin's "
    "code and the web page see it as JSON: no `nan`, no `inf`, no date or time without quotes, no whole number "
    f"beyond ±{EXACT_INTEGER:,}.",
    "Write dates and times as text in quotes and keep numbers in range.",
)

ALL = (
    UNREADABLE,
    TOO_LARGE,
    TOO_DEEP,
    NOT_UTF8,
    SYNTAX,
    BYTE_ORDER_MARK,
    NOT_JSON,
)
