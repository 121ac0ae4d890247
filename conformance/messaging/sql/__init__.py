"""Subscriptions that select messages by SQL92 over their properties."""
