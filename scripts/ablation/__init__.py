"""Parts of scripts/ablate_search.py."""
