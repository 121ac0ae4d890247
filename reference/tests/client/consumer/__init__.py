"""Tests of push consumers."""
