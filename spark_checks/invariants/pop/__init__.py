"""
Invariants of popped messages: checkpoints, acknowledgements and messages popped again.

A broker records them in its revive topic (since 5.0). These records are few beside the
messages, so the driver reads them, at most the last ones of each queue. Begin with
`check_pop`.
"""
