"""
Meaning of RocketMQ's bytes and protocol, with construct and the standard library only.

PYTEST_DONT_REWRITE: ``rmqc test`` has it imported before pytest starts.
"""
