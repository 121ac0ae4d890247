"""
Timer messages since 5.0, with their own delivery time (Java: TimerMessageStore).

Begin with `timer_wheel`, a ring of slots of one second each. A slot points at the
linked items of `timer_log`.
"""
