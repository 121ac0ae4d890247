"""Tests of the commands that examine a store."""
