"""Tests of a broker whose disk fails or is slow."""
