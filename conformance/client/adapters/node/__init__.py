"""The Node client ali-ons, as docs/client_adapter.md requires it."""
