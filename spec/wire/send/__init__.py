"""
Send requests: the broker's validation, storage and response.

Begin with `send`, the request and its clauses. `batch_body` is the layout of a batch.
`send_limits` has the size limits in bytes, `send_states` the responses of a broker that
cannot store.
"""
