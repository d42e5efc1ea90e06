"""The commands of `talekeeper`, a module for each or for each group; `talekeeper.cli.app` lists and loads them."""
