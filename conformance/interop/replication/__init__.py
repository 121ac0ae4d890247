"""
Replication between the reference and real brokers, in both roles.

Begin with ``replication.py``.
"""
