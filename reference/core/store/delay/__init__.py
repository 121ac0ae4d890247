"""Delayed messages and their delay levels (Java: ScheduleMessageService).

Begin with ``schedule_message.py``.
"""
