"""
Invariants of a whole store, one module per subject, with the functions that check them.

Begin with `records` and `queues`: commit log and consume queues in both directions. A
check takes tables and returns rows of findings; no row means that the invariant holds.
`transactions` and `delays` match tables of the survey's ledger instead. A check of a
surveyed store selects its rules, and runs them if the survey has found a difference.
"""
