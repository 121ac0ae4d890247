"""
Forecast of recovery: the result of a broker's start, without a change to the store.

Begin with `forecast`. It reads a store through a read-only `store_view` and follows the
start of one release by ``reference.core.store.recovery.rules``. `outcome` is the
result. `message_loss` compares the log with the queues after the forecast start.
"""
