"""
The broker's service to clients: messages, offsets, queries, groups, topics.

Begin with ``send/test_send.py`` and ``pull/test_pull.py``, the two basic requests.
"""
