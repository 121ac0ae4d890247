"""Connections, requests, responses, timers and settings."""
