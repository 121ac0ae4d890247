"""
Consumer and producer groups: heartbeats, members, configuration, queue locks.

Begin with `clients`, the tables of members and locks, and `heartbeat`.
"""
