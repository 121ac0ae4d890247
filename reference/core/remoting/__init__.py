"""
The remoting server without sockets: received bytes in, effects out.

Begin with `server`, the base of the broker and the name server. `connection` decodes
frames to `request`. `response` encodes responses. `effects` lists the input and output
that the shell performs.
"""
