"""Tests of push and pull consumers."""
