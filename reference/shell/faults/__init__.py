"""
A misbehaving server for authors of clients: ``rmqc serve --fault busy:10%``.

Begin with ``catalogue.py``. Faults wrap the handlers of the two servers and the sending
of frames. The core and the host of sockets are independent of them.
"""
