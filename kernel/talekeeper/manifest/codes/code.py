"""TK5: the plugin's code, looked at only when asked with `--imports`."""

from talekeeper.manifest.diagnostic import Code

IMPORT_FAILED = Code(
    "TK501",
    "error",
    "importing the plugin's code fails",
    "The module named in the manifest could not be imported. On a host the plugin's state becomes `failed` and "
    "everything else goes on.",
    'Mend what the message names; run `python -c "import <package>.<module>"` for the whole traceback.',
)
NO_HOOK = Code(
    "TK502",
    "error",
    "the module implements no talekeeper_register",
    "The module has one hook, a function `talekeeper_register(registry)` marked with `@hookimpl` from "
    "`talekeeper.api`.",
    "Add the function, or the mark.",
)
HOOK_FAILED = Code(
    "TK503",
    "error",
    "talekeeper_register fails",
    "The hook raised, used the registry wrongly, or took longer than ten seconds. On a host everything it had "
    "registered until then is undone and the state becomes `failed`.",
    "Mend what the message names; registering should do nothing but register.",
)
NOT_REGISTERED = Code(
    "TK504",
    "error",
    "something is declared and not registered",
    "What the manifest declares must be implemented: otherwise a model, a page or a schedule would offer what nobody "
    "does.",
    "Register the function under the declared name, or remove the declaration.",
)
NOT_DECLARED = Code(
    "TK505",
    "error",
    "something is registered and not declared",
    "What the code registers must be declared, so that people can read in one file what a plugin does before it runs.",
    "Declare it in the manifest, or do not register it.",
)
NOT_RELOADABLE = Code(
    "TK506",
    "error",
    "the code registers something else when it is loaded again",
    "A host unloads a plugin by forgetting its modules and loads it again by importing them anew. Code that keeps "
    "state outside its modules serves old code or fails after a reload.",
    "Keep what is registered inside the package's own modules.",
)

ALL = (
    IMPORT_FAILED,
    NO_HOOK,
    HOOK_FAILED,
    NOT_REGISTERED,
    NOT_DECLARED,
    NOT_RELOADABLE,
)
