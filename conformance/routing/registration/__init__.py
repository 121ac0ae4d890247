"""Registrations of brokers at a name server: headers, bodies and concurrency."""
