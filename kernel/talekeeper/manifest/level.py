"""The manifest level of this host.

A manifest says in `api` which level it was written for. A rule introduced with a later level holds for manifests of
that level only.
"""

LEVEL = 1
