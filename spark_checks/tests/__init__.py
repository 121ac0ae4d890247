"""Tests of the audits: hand-made tables, built stores, seeded faults."""
