"""
Java for the harness: runtime, jars, compilation, and clusters of Apache RocketMQ.

Begin with ``apache.py``, which starts a release's name server and broker.
"""
