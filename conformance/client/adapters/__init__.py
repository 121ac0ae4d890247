"""Clients of others, put under test: a package each, run with ``python -m``."""
