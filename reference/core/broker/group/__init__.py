"""
Consumer and producer groups: heartbeats, members, configuration, queue locks.

Begin with `clients`, the table of members, and `heartbeat`, which fills it.
"""
