"""Subcommands of ``rmqc bench``: options of each measurement, tables and JSON."""
