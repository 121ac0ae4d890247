"""
The adapter by which the suite for clients drives the reference client.

Begin with `adapter`, which reads commands as lines of JSON (docs/client_adapter.md).
"""
