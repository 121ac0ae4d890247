"""
Handover: one release opens the store that another has written.

Begin with ``handover.py``; ``cell.py`` is one recorded result.
"""
