"""
What a client does that no single request shows: whom it asks when, and what it keeps.

What a producer sends and when it tries again is in ``spec.wire``, beside the requests:
``producer``, ``producer_queues``, ``producer_retries`` and ``producer_faults``.
"""
