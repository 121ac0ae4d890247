"""Pulls, held ones too, and queries by key, by id and by time."""
