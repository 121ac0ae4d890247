"""
Expected content of servers as lists and dictionaries, for the state machines of tests.

Begin with ``queues.py``, the smallest model.
"""
