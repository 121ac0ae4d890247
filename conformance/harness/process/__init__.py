"""
Child processes: start, wait, end; fork server, ports, temporary directories, deadlines.

Begin with ``process.py``.
"""
