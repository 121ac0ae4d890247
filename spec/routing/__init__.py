"""Registrations of brokers at name servers, and routes of name servers for clients."""
