"""Readers that turn the files of a store into Spark tables."""
