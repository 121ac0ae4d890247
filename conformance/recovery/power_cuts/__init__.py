"""
Power cuts: files of a killed broker without the pages that were not flushed.

Begin with ``crashed_broker.py``; ``crash_states.py`` has the states of its store.
"""
