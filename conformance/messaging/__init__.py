"""What a broker does for its clients: messages, offsets, look-ups, groups, topics."""
