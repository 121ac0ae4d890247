"""Real clients and the reference's at real brokers and at the reference."""
