"""
Targets: the peers that suites examine, one module for each kind.

Begin with ``target.py``: the base class and the text form of targets. `started` has
those that a run starts itself.
"""
