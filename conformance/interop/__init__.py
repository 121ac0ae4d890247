"""
Interoperation: real clients, tools and stores with the reference and real brokers.
"""
