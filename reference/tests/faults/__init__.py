"""Tests of `reference.shell.faults`."""
