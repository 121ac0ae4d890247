"""Stores that real brokers wrote in many ways, to audit: each is intact."""
