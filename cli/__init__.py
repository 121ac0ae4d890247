"""
One command, ``rmqc``: it parses options and calls the other packages.

PYTEST_DONT_REWRITE: ``rmqc test`` has it imported before pytest starts.
"""
