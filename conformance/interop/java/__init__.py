"""
Java's own programs: clients, examples and admin tools of a release.

Begin with ``client.py``, which starts them; ``gateway.py`` calls Java through py4j.
"""
