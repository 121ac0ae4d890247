"""
Behaviour of a client beyond single requests: heartbeats, rebalance, offsets, locks.

Rules of sending are in ``spec.wire.producer``, beside the requests: ``producer``,
``select_queue``, ``retry`` and ``latency_fault``.
"""
