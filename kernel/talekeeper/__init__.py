"""Talekeeper gives a language-model narrator a long memory.

Importing this package loads no heavy dependency; plugin authors import `talekeeper.api`.

PYTEST_DONT_REWRITE: has no assertions, and pytest, which finds the distribution by its entry point, warns of a package
imported before it could rewrite it.
"""

__version__ = "0.1.0"
