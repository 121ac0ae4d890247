"""The Go client of Apache, as docs/client_adapter.md requires it."""
