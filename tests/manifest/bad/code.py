"""The module that the manifests here name; nothing imports it."""
