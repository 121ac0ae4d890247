"""
Suite about security: signed requests, access control, users and policies, TLS.

Its targets are its own: each is started with accounts or certificates of the suite.
"""
