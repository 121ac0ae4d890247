"""Recorded runs of the suites on implementations, one JSON file each."""
