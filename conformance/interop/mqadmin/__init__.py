"""
mqadmin of 4.6.0: all sub-commands at a real broker and at the reference, compared.

Begin with ``scene.py``, the cluster's content, and ``compare.py``.
"""
