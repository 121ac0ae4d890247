"""Tests of the command line: what a user types, sees and gets as an exit code."""
