"""
What a peer must do, asked from outside. Imports spec, never reference.

PYTEST_DONT_REWRITE: ``rmqc test`` has it imported before pytest starts.
"""
