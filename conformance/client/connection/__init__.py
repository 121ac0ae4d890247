"""Tests of connections: routes, heartbeats, credentials, and periodic tasks."""
