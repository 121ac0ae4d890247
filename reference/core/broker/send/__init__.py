"""
Producers' messages on their way in, replies, and messages that consumers send back.

Begin with `send_message`: check, append, respond. `put_result` has the response that
waits for the disk or a slave.
"""
