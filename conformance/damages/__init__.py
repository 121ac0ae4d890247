"""Damaged stores: what is said of them beforehand, and what real brokers then do."""
