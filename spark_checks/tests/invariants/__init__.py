"""Invariants on built stores, generated stores and those of real brokers."""
