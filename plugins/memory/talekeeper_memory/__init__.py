"""The memory plugin: what a story remembers, declared as searchable data.

`plugin.toml` declares the namespaces; `register` is the module the kernel loads.
"""
