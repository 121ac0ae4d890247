"""Tests of the store below the broker's interface."""
