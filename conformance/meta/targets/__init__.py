"""Targets, their processes and folders, as the harness starts and ends them."""
