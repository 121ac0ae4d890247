"""Tests of pull consumers, and of the messages that they get."""
