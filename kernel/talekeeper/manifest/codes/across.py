"""TK3: what the manifest says of other files."""

from talekeeper.manifest.diagnostic import Code

NO_SUCH_FILE = Code(
    "TK301",
    "error",
    "a file the manifest names does not exist",
    "Record schemas and parameter schemas are files inside the package, named relative to the manifest.",
    "Check the spelling, and that the file is part of the package.",
)
OUTSIDE = Code(
    "TK302",
    "error",
    "a path leaves the plugin's package",
    "Paths in a manifest are relative to it, with `/` between folders, and stay inside the package: nothing "
    "absolute, no `..`, no backslash or drive, and no symbolic link that leads out.",
    "Put the file into the package.",
)
NOT_JSON_FILE = Code(
    "TK303",
    "error",
    "a schema file is not JSON",
    "A schema file is one JSON object in UTF-8, 256 KiB at most, without doubled keys.",
    "Mend the file at the line the message gives.",
)
NOT_A_SCHEMA = Code(
    "TK304",
    "error",
    "a schema file is not a valid JSON Schema",
    "Schemas are JSON Schema 2020-12; what the file says of itself must hold against the metaschema.",
    "Mend the file at the pointer the message gives.",
)
NOT_OF_OBJECTS = Code(
    "TK305",
    "error",
    "a schema that is not one of objects",
    "A record, and the parameters of a tool or command, are JSON objects with named properties.",
    'Write `"type": "object"` and `"properties": {…}` at the top of the schema.',
)
REMOTE_REFERENCE = Code(
    "TK306",
    "error",
    "a schema refers outside itself",
    "Schemas are read without the network and without other files: a `$ref` begins with `#` and leads to a place "
    "that is there.",
    "Copy what is referred to into `$defs` of the same file.",
)
NO_SUCH_PROPERTY = Code(
    "TK307",
    "error",
    "search names a property that the record schema does not have",
    "Every name in `search` is a top-level property of the record. A misspelt one would index nothing, in silence.",
    "Correct the name, or add the property to the record schema.",
)
NOT_SEARCHABLE = Code(
    "TK308",
    "error",
    "search names a property of the wrong type",
    "`text`, `title`, `speaker` and `time` are strings in the record schema (or string and null), `tags` an array of "
    "strings, `when` a boolean.",
    "Name another property, or change its type in the record schema.",
)
NO_MODULE = Code(
    "TK309",
    "error",
    "the module does not exist",
    "`module` is looked for as a file or a package beside the manifest, without importing anything.",
    "Correct the name, or add the file.",
)
NO_SEED = Code(
    "TK310",
    "error",
    "the seed pattern matches no file",
    "`seed` names JSON Lines files inside the package, one record a line.",
    "Correct the pattern, or add the file.",
)
BAD_SEED = Code(
    "TK311",
    "error",
    "a line of a seed file is not a record",
    "Each line is a JSON object with a text `id`, different from every other in the namespace; the object (without "
    "`id`, unless the record schema has such a property) fits the record schema.",
    "Mend the line the message names.",
)
SEED_TOO_LONG = Code(
    "TK312",
    "error",
    "a seed is too long for its scope",
    "A seed is loaded once in each scope. Into a session at most 200 lines, since every session would carry its own "
    "copy; nowhere more than the namespace's `limit`.",
    'Use `scope = "workspace"`, raise `limit`, or shorten the seed.',
)
EXPRESSION = Code(
    "TK313",
    "error",
    "a schema has a regular expression",
    "`pattern` and `patternProperties` would make the host run an expression somebody else wrote, and one bad "
    "expression can keep a machine busy for hours. No regular expression from outside is ever run.",
    "Use `enum`, `minLength`, `maxLength` or `propertyNames` with an `enum`; check finer forms in code.",
)

ALL = (
    NO_SUCH_FILE,
    OUTSIDE,
    NOT_JSON_FILE,
    NOT_A_SCHEMA,
    NOT_OF_OBJECTS,
    REMOTE_REFERENCE,
    NO_SUCH_PROPERTY,
    NOT_SEARCHABLE,
    NO_MODULE,
    NO_SEED,
    BAD_SEED,
    SEED_TOO_LONG,
    EXPRESSION,
)
