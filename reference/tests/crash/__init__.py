"""Stores after a power cut, and their recovery."""
