"""
Requests of consumers: heartbeats, pulling, offsets, queue locks and queries.

Begin with `pull`, the request for the messages of one queue. `groups` describes
heartbeats and membership, `offsets` the progress of a consumer group.
"""
