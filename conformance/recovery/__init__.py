"""
Recovery: the state of a broker's store and queues after a start that follows a mishap.

Begin with ``original.py``, a damaged store, and ``crashed.py``, a power cut.
"""
