"""What RocketMQ's bytes and protocol mean. Pure: construct and the standard library."""
