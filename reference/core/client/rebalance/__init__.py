"""
Rebalance: the queues of a consumer group, divided among its members.

Begin with `rebalance`. `strategies` has the allocate strategies, `assigned_queue` the
state of one queue while it is assigned, `process_queue` its messages, `queue_locks` the
locks of orderly consumption.
"""
