"""
Remoting commands on a connection: frames, headers, and the handling of bad ones.

Begin with ``server.py``, the request that every test varies.
"""
