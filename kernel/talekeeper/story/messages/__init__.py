"""The messages of a session and the tree they form: rows, additions, changes, lineages, and moving about."""
