"""Tests of expired files."""
