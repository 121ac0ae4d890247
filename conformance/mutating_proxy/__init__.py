"""
A mutating proxy between the suites and a healthy target.

Each mutation makes one thing of the traffic wrong; the suites must detect it. Begin
with ``__main__.py``, or with ``mutation.py`` for the list of mutations.
"""
