"""TK9: what is allowed, but will disappoint somebody."""

from talekeeper.manifest.diagnostic import Code

NO_SUMMARY = Code(
    "TK901",
    "warning",
    "the plugin has no summary",
    "`summary` is the one line that people see in `talekeeper plugins` when they decide whether to enable it.",
    "Add `summary` to `[plugin]`: one line, 120 characters at most.",
)
VERSION_SPELLING = Code(
    "TK902",
    "warning",
    "the version is not in its normal form",
    "PEP 440 has many spellings of one version. Tools print the normal one, which then differs from the manifest.",
    "Write the version in the form the message gives.",
)
FEEDS_NOTHING = Code(
    "TK903",
    "warning",
    "the plugin adds nothing anybody can find",
    "A plugin that contributes nothing, or that has neither code nor a namespace with a `search` table, does nothing.",
    'Add `search` to the namespace, for example `search = { text = "body" }`.',
)
OFTEN_ABSENT = Code(
    "TK904",
    "warning",
    "the searched property is optional",
    "A record without any of the `text` properties is stored and never found.",
    "List the property under `required` in the record schema.",
)
THIN_DESCRIPTION = Code(
    "TK905",
    "warning",
    "a tool's description says little",
    "The description is all a model has to decide when to call the tool; it should say what the tool does and when "
    "to use it.",
    "Write a sentence of at least 20 characters.",
)

ALL = (
    NO_SUMMARY,
    VERSION_SPELLING,
    FEEDS_NOTHING,
    OFTEN_ABSENT,
    THIN_DESCRIPTION,
)
