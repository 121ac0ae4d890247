"""
The suite for clients: scripted name servers and brokers examine a client's behaviour.

Begin with ``scripted/scripted_cluster.py``, then ``application.py``.
"""
