"""
Differential test: the same generated programs on two targets, compared.

Begin with ``run.py``, then ``compare.py`` and ``steps/step.py``.
"""
