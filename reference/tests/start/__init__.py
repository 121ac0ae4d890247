"""Starts that are foretold, and starts that happen."""
