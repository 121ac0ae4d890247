"""
Invariants of configuration files: their values, their tables, and the queues they name.
"""
