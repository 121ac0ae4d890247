"""Administrators' requests: tables, lists, statistics, limits and repairs."""
