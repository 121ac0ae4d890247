"""
The producer: sends with retries, batches, transactions, request and reply.

Begin with `producer`. `send_request` builds the request, `select_queue` selects the
queue, `send_call` decides after a failed attempt.
"""
