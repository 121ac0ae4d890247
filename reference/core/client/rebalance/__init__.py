"""
Rebalance: the queues of a consumer group, divided among its members.

Begin with `rebalance`. `strategies` has the allocate strategies, `assigned_queue` the
state of one queue while it is assigned, `process_queue` its messages. For orderly
consumption `orderly_queue` has the state, `queue_locks` the requests for locks.
"""
