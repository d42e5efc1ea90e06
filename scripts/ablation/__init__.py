"""Parts of scripts/ablate_search.py and scripts/ablate_meaning.py."""
