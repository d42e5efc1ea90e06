"""The index on disk and in memory: what a write stores, segments, partitions, upkeep, and checks of them all."""
