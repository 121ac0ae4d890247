"""The files of a store."""
