"""The reference without input or output: bytes and events in, effects out."""
