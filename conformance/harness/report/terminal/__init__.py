"""
End of a run in the terminal: its counts and the causes of its failures.

Begin with ``summary.py``.
"""
