"""The name server: who serves which topic, and which brokers are alive."""
