"""The store's files on disk; begin at `disk`."""
