"""
Wrong clients: a real client whose requests are changed on their way to the suite.

A client mutant is a fault in the reference client. What the reference does not do, such
as pop, needs another wrong client. ``wrong-client:ID COMMAND`` starts the adapter
COMMAND. The suite's servers receive its requests with one fault.
"""
