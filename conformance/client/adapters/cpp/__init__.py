"""The C++ client, from Python, as docs/client_adapter.md requires it."""
