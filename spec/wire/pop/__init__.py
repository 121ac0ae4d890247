"""
Pop consumption, from 5.0 on: receipts, bodies, and the rules of its requests.

Begin with :mod:`spec.wire.pop.pop_message`.
"""
