"""Kills of a broker at a random moment under load."""
