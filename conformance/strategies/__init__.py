"""
Hypothesis strategies of the suites, in modules named after their values.

Begin with ``messages.py``; ``layouts.py`` derives values from binary layouts.
"""
