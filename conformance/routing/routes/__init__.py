"""Responses to route requests: form, size, and routes after any order of events."""
