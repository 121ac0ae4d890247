"""The everyday requests, one module a subject. Each returns the answer as it came."""
