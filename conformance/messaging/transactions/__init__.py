"""Transactions: half messages, decisions, checks and op messages."""
