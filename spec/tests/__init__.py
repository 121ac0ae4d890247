"""Tests of the specification's own declarations, without a peer."""
