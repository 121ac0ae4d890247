"""The broker: takes messages, hands them out, and remembers who has read how far."""
