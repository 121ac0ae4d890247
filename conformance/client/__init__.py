"""The suite for clients: we play name servers and brokers, and look at what it does."""
