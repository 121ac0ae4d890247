"""
Transactional messages: half messages, commit and rollback, and the check.

Begin with `half_message`, which has the states, then `end_transaction` and `check`.
"""
