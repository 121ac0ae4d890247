"""
Requests of the harness client, one module for each subject.

Begin with ``invoker.py``: every request is a call of ``invoke`` or ``invoke_oneway``.
"""
