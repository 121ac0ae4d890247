"""
Steps of generated programs: one module for each subject.

Begin with ``step.py``, the base class.
"""
