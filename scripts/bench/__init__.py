"""What the benchmarks share: corpora, engines, measuring, reporting."""
