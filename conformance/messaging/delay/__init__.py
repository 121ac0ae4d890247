"""Messages that are due later: delay levels, timed messages, retries, recall."""
