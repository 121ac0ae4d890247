"""
What RocketMQ's bytes and protocol mean. Pure: construct and the standard library.

PYTEST_DONT_REWRITE: ``rmqc test`` has it imported before pytest starts.
"""
