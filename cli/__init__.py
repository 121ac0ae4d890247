"""
One command, ``rmqc``: it parses options and calls the rooms.

PYTEST_DONT_REWRITE: ``rmqc test`` has it imported before pytest starts.
"""
