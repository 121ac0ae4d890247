"""
Offsets: those that consumer groups commit, and the ends of queues.

Begin with `consumer_offsets`, the table, then `queue_offsets`, the requests.
"""
