"""
Client of a target: connection, requests, transcripts, and a tap for frames of others.

Begin with ``client.py``, then ``peer.py``, the connection below it.
"""
