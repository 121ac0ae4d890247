"""Commands that are a broker, or connect to one: server, clients, administration.

Begin with ``serve.py``.
"""
