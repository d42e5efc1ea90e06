"""TK2: the tables of the manifest, their keys and their values."""

from talekeeper.manifest.diagnostic import Code

UNKNOWN_POINT = Code(
    "TK201",
    "error",
    "there is no such contribution point",
    "Under `[contributes]` stand only the points the host knows: `data`, `tools`, `prompt`, `jobs`, `settings`, "
    "`commands`, `importers`, `providers`. A misspelt point would otherwise be skipped in silence.",
    "Correct the name; several are plural. Notes of your own go into the free `[x]` table.",
)
WRONG_KIND_OF_TABLE = Code(
    "TK202",
    "error",
    "a table where an array of tables belongs, or the other way round",
    "`data` holds named tables, `[contributes.data.<namespace>]`; every other point is an array of tables, "
    "`[[contributes.tools]]`, with double brackets.",
    "Change the brackets of the header.",
)
WRONG_TYPE = Code(
    "TK203",
    "error",
    "a value of the wrong type",
    'Values are not converted: `"5"` is not a number, `1` is not `true`, one text is not a list.',
    "Write the value in the type the message names.",
)
MISSING_KEY = Code(
    "TK204",
    "error",
    "a key is missing",
    "Some keys have no sensible default and must be given.",
    "Add the key; `docs/reference/manifest.md` says what it means.",
)
NOT_A_CHOICE = Code(
    "TK205",
    "error",
    "a value is none of the choices",
    "Some keys take one of a few words, spelled exactly.",
    "Use one of the words the message lists.",
)
OUT_OF_RANGE = Code(
    "TK206",
    "error",
    "a number is out of range",
    "Versions, limits, budgets, weights and orders each have a range.",
    "Use a number within the range the message gives.",
)
TEXT_SHAPE = Code(
    "TK207",
    "error",
    "a text or list is empty, too long, or holds control characters",
    "Summaries and labels are one line of at most 120 characters; descriptions are at most 2,000; what must say "
    "something is not empty; control characters other than line breaks and tabs in descriptions are refused.",
    "Shorten the text, or remove the character the message names.",
)
NAMESPACE_NAME = Code(
    "TK208",
    "error",
    "a namespace name is malformed",
    "The name of a namespace begins with a letter a–z and goes on with letters a–z, digits and underscores, 64 "
    "characters at most. Two plugins may use the same name: they are `a/x` and `b/x`.",
    "Rename the table, for example `[contributes.data.lore_entries]`.",
)
KERNEL_NAMESPACE = Code(
    "TK209",
    "error",
    "the namespace name is reserved",
    "Namespaces beginning with an underscore are the kernel's.",
    "Drop the underscore.",
)
SAME_NAME = Code(
    "TK210",
    "error",
    "the same name twice",
    "Within one plugin, names are unique in each contribution point and in each list. Tool names that differ only in "
    "case or in hyphens and underscores are one, as they are to some models' interfaces.",
    "Rename or remove one of the two.",
)
TOOL_NAME = Code(
    "TK211",
    "error",
    "a tool name is malformed",
    "Model interfaces accept tool names of letters a–z and A–Z, digits, hyphens and underscores, 1 to 64 characters.",
    "Use a name like `roll-dice`.",
)
KERNEL_TOOL = Code(
    "TK212",
    "error",
    "the tool name is the kernel's",
    "A tool called like one of the kernel's, in whatever case and with hyphens or underscores, puts the plugin in the "
    "state `blocked` on every host.",
    "Choose another name, best with a word that says whose tool it is.",
)
LOCAL_NAME = Code(
    "TK213",
    "error",
    "a name is malformed",
    "The ids of prompt segments, jobs, commands, importers, providers and model slots begin with a letter a–z and go "
    "on with letters a–z, digits, hyphens and underscores, 64 characters at most.",
    "Use a name like `check` or `world-info`.",
)
SETTING_KEY = Code(
    "TK214",
    "error",
    "a setting's key is malformed",
    "The key of a setting begins with a letter a–z and goes on with letters a–z, digits and underscores, 64 "
    "characters at most, so that code can use it as a name.",
    "Use a key like `auto_recall`.",
)
OLDEST_OF_WHAT = Code(
    "TK215",
    "error",
    'on-limit = "oldest" without a limit',
    '`on-limit = "oldest"` withdraws the oldest record when the namespace is full. Without `limit` it is never full, '
    "and with `append-only` nothing else would ever bound it: the two keys contradict what is left out.",
    "Add `limit`, or remove `on-limit`.",
)
NO_TIME = Code(
    "TK216",
    "error",
    "a schedule without a time",
    'A job with `on = "schedule"` says when: `cron`, or `time` (with `weekday` for once a week, without it for every '
    "day).",
    'Add `time = "03:30"` or `cron = "30 3 * * *"`.',
)
TWO_TIMES = Code(
    "TK217",
    "error",
    "a schedule with two times",
    "`cron` says everything about the time of a job; `time` and `weekday` beside it would contradict it.",
    "Keep `cron`, or `time` with `weekday`.",
)
TIME_UNUSED = Code(
    "TK218",
    "error",
    "a time for a job that is not scheduled",
    '`cron`, `time`, `weekday` and `tz` mean something only with `on = "schedule"`.',
    "Change `on`, or remove the key.",
)
BAD_TIME = Code(
    "TK219",
    "error",
    "a time, cron expression or time zone that cannot be read",
    "`time` is `HH:MM` on a 24-hour clock, `cron` has five fields and must have a next run, `tz` is a name of the "
    "IANA time zone database.",
    'Write for example `time = "03:30"`, `cron = "30 3 * * mon"`, `tz = "Europe/London"`.',
)
UNKNOWN_KEY = Code(
    "TK221",
    "error",
    "unknown key",
    "A key that means nothing is refused when the manifest is of the host's own level: it is nearly always a "
    "misspelling of one that means something. A missing key and an unknown one that resemble each other are told as "
    "one.",
    "Correct the spelling. Notes of your own go into the free `[x]` table, which the kernel never reads.",
)
DEFAULT_TYPE = Code(
    "TK222",
    "error",
    "a setting's default does not fit the setting",
    "`default` is of the setting's `type`, within `min` and `max`, and one of the `choices` when there are any.",
    "Change the default, or what it has to fit.",
)
SETTING_RANGE = Code(
    "TK223",
    "error",
    "min, max or choices that contradict the setting",
    "`min` and `max` are for numbers, `min` is not above `max`, and `choices` are of the setting's own type.",
    "Remove the key, or change the type.",
)
MATCH_PATTERN = Code(
    "TK224",
    "error",
    "an importer's pattern is not a file name pattern",
    "`match` patterns are compared with a file's name alone, where `*` stands for any characters: no folders, no `**`.",
    "Write for example `*.json`.",
)
NO_CODE = Code(
    "TK225",
    "error",
    "a contribution needs code, and the manifest names no module",
    "Tools, prompt segments, jobs, commands, importers and providers are functions that the plugin's code registers. "
    "A plugin without `module` is data only.",
    "Add `module` to `[plugin]`, or remove the contribution.",
)
READ_TARGET = Code(
    "TK226",
    "error",
    "a read permission does not name another plugin's namespace",
    "`read` lists namespaces of other plugins as `plugin/namespace`. A plugin's own namespaces need no permission.",
    "Write for example `lorebook/entries`.",
)
READ_UNORDERED = Code(
    "TK227",
    "warning",
    "a plugin is read but neither required nor optional",
    "Without `requires` or `optional` nothing says that the other plugin should be there, nor that it is loaded first.",
    "Add the plugin to `optional`, or to `requires` if nothing works without it.",
)
FILE_PERMISSION = Code(
    "TK228",
    "error",
    "a file permission leaves the workspace folder",
    "`files` lists paths and patterns inside the workspace folder, with `/` between folders: nothing absolute, no "
    "`..`, no backslash, no drive.",
    "Write for example `notes/**`.",
)
HOST_PERMISSION = Code(
    "TK229",
    "error",
    "an http permission is not a host",
    "`http` lists host names, with a port when it is not the usual one: no scheme, no path, no pattern.",
    "Write for example `api.example.org`.",
)
TOOL_TAKEN = Code(
    "TK230",
    "warning",
    "two plugins declare the same tool",
    "When both are active, the later plugin is `blocked`; the message names both. Case does not count, nor does hyphen "
    "or underscore.",
    "Rename one of the tools.",
)

ALL = (
    UNKNOWN_POINT,
    WRONG_KIND_OF_TABLE,
    WRONG_TYPE,
    MISSING_KEY,
    NOT_A_CHOICE,
    OUT_OF_RANGE,
    TEXT_SHAPE,
    NAMESPACE_NAME,
    KERNEL_NAMESPACE,
    SAME_NAME,
    TOOL_NAME,
    KERNEL_TOOL,
    LOCAL_NAME,
    SETTING_KEY,
    OLDEST_OF_WHAT,
    NO_TIME,
    TWO_TIMES,
    TIME_UNUSED,
    BAD_TIME,
    UNKNOWN_KEY,
    DEFAULT_TYPE,
    SETTING_RANGE,
    MATCH_PATTERN,
    NO_CODE,
    READ_TARGET,
    READ_UNORDERED,
    FILE_PERMISSION,
    HOST_PERMISSION,
    TOOL_TAKEN,
)
