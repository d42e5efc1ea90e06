"""The model of a manifest in pydantic's terms. It explains a bad manifest; the published schema comes from it.

A manifest that fits that schema needs no model: these modules are imported only for one that does not.
"""
