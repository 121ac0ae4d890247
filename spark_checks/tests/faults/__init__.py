"""Planted faults: the catalogue, and wrong values of every field and file."""
