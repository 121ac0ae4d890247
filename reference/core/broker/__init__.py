"""
The broker: requests of clients and tools in, responses and messages out.

Begin with `state`, the tables, and `processor_table`, the handler of each request code.
A handler checks, acts and responds; `send.send_message` is the one to read first.
Handlers use the long-lived parts through `ports`. `broker_controller` builds all parts
and connects them to the remoting server. The layers are, from the top: controller,
processor table, parts and handlers, state and ports, tables.
"""
