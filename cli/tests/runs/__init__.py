"""Runs of the suites and of recorders: what they check, record and leave."""
