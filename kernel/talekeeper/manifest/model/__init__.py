"""The model of a manifest in pydantic's terms, a module for each contribution point.

It says what is wrong with a manifest, and the published schema is generated from it. A manifest that plainly holds to
that schema needs neither, so these modules are imported only for one that does not: they take half of a start.
"""
