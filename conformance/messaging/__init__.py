"""
The broker's service to clients: messages, offsets, queries, groups, topics.

Begin with ``test_send.py`` and ``test_pull.py``, the two basic requests.
"""
