"""Talekeeper gives a language-model narrator a long memory.

Importing this package loads no heavy dependency; plugin authors import `talekeeper.api`.
"""

__version__ = "0.1.0"
