"""
Damaged stores: the prediction of ``rmqc recover``, and the behaviour of real brokers.

Begin with ``damage.py``, the base class, and ``predictions.py``, the comparison.
"""
