"""Brokers and clients that are silent, disconnect or return."""
