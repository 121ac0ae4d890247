"""Commands that only read or print, and clients: output and exit codes."""
