"""
Periodic work of the broker, and flushes.

Begin with `scheduled_tasks`; `flusher` decides when files are flushed.
"""
