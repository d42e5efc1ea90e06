"""TK4: the package around the manifest: entry points, wheels, projects."""

from talekeeper.manifest.diagnostic import Code

NO_MANIFEST = Code(
    "TK401",
    "error",
    "the manifest is not in the package",
    "A wheel or installed distribution whose entry point announces a plugin must hold `plugin.toml` in that package. "
    "Build back ends leave files out that are not Python unless told otherwise.",
    "With setuptools add `[tool.setuptools.package-data]`; with hatchling check `exclude` and `only-include`. Then "
    "build again and validate the wheel.",
)
NO_ENTRY_POINT = Code(
    "TK402",
    "error",
    "the distribution announces no plugin",
    "An installed plugin is found through the entry-point group `talekeeper.plugins`; without an entry the manifest "
    "inside the distribution is never looked at.",
    'Add to pyproject.toml: `[project.entry-points."talekeeper.plugins"]` with `<id> = "<package>"`.',
)
ENTRY_POINT_NAME = Code(
    "TK403",
    "error",
    "the entry point has another name than the plugin",
    "The name of the entry point is the plugin's id, so that a plugin can be switched off before anything is imported.",
    "Make the two equal.",
)
ENTRY_POINT_VALUE = Code(
    "TK404",
    "warning",
    "the entry point is not a top-level package",
    "The entry point's value is the name of the package that holds `plugin.toml`, and nothing more: asking for a "
    "submodule or an attribute would run the package's code before anybody enabled the plugin.",
    'Write the import name alone, for example `lorebook = "talekeeper_lorebook"`; `module` in the manifest names the '
    "code.",
)
NO_PACKAGE = Code(
    "TK405",
    "error",
    "the entry point's package is not there",
    "The package that the entry point names must be part of the distribution.",
    "Correct the entry point, or the list of packages the build includes.",
)
BAD_WHEEL = Code(
    "TK406",
    "error",
    "the wheel cannot be trusted or read",
    "A wheel is a zip archive with one `.dist-info` folder that holds METADATA, RECORD and WHEEL; names that leave "
    "the archive, doubled names and members that unpack to more than 64 MiB are refused.",
    "Build the wheel again.",
)
OTHER_VERSION = Code(
    "TK407",
    "warning",
    "the manifest and the distribution give different versions",
    "The same fact stated twice has drifted apart: people see one number in `pip list` and another in `talekeeper "
    "plugins`.",
    "Set both from one place, or change the older one.",
)
FOLDER_NAME = Code(
    "TK408",
    "error",
    "the folder has another name than the plugin",
    "In a plugin folder of the host, a plugin's own folder carries its id. For a package that is announced by an "
    "entry point the folder's name is free.",
    "Rename the folder, or announce the package by an entry point.",
)
NOT_PACKAGED = Code(
    "TK409",
    "warning",
    "the build will leave the manifest out of the wheel",
    "setuptools puts only Python files into a wheel unless `package-data` or a `MANIFEST.in` says otherwise. The "
    "commonest fault of a published plugin is a wheel without its manifest.",
    'Add `[tool.setuptools.package-data]` with `<package> = ["plugin.toml", "*.json", "*.jsonl"]`.',
)
BAD_ENTRY_POINTS = Code(
    "TK410",
    "error",
    "entry_points.txt is malformed",
    "The file lists `name = value` under `[group]` headers, each name once in a group. Python's own reader gives up at "
    "a line of another form, and with it every program that looks for plugins in the same environment.",
    "Build the distribution again; a build back end writes the file from `pyproject.toml`.",
)

ALL = (
    NO_MANIFEST,
    NO_ENTRY_POINT,
    ENTRY_POINT_NAME,
    ENTRY_POINT_VALUE,
    NO_PACKAGE,
    BAD_WHEEL,
    OTHER_VERSION,
    FOLDER_NAME,
    NOT_PACKAGED,
    BAD_ENTRY_POINTS,
)
