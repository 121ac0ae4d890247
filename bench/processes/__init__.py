"""Processes that a measurement starts and watches: servers, clients, decoders."""
