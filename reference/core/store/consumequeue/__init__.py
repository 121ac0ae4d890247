"""
Consume queues: for every queue of every topic, the places of its messages in the log.

Begin with ``consume_queue``. ``table`` has all of them, ``extension`` the units that do
not fit into 20 bytes.
"""
