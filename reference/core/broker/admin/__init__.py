"""
Requests of tools about settings, statistics and clients.

Begin with `broker_requests`; `broker_statistics` has the counts.
"""
