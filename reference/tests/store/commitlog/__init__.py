"""Tests of the commit log: appended records and its files."""
