"""
Requirements for a peer, tested from outside. Imports spec, never reference.

PYTEST_DONT_REWRITE: ``rmqc test`` has it imported before pytest starts.
"""
