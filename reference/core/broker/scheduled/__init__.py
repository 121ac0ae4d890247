"""
Periodic work of the broker, and flushes.

Begin with `scheduled_tasks`; `flushing` decides when files are flushed.
"""
