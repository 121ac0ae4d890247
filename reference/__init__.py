"""Readable name server, broker and client of RocketMQ 4.6.0, which also run."""
