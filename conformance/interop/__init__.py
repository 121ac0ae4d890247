"""Real Java clients and real stores, met by whatever target is examined."""
