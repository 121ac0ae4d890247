"""
Java on this machine: its runtime, and archives of the classes of its programs.

Begin with ``find_java.py``.
"""
