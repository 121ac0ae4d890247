"""The Java client of any pinned release, as docs/client_adapter.md requires it."""
