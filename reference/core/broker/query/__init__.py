"""Queries for single messages, by offset or by key. All is in `query_message`."""
