"""Makes stores of any size, the same for the same seed, to try audits on."""
