"""
What a start would do to a store, found out without doing it.

`predict` looks at a store through a `StoreView`, which cannot write, and follows the
start of a broker of one release, step by step, by the rules that the reference starts
by (``reference.core.store.recovery_*``). What it would change it keeps beside: how far
each queue and the log go, and the few units that dispatch would add. In the end it
compares: which messages are lost, which stay but are seen by nobody.
"""
