"""
Routing: the name server with its brokers and clients, and a broker's registrations.

Begin with ``fake_broker.py``, then ``test_registration.py``.
"""
