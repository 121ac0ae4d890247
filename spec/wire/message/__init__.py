"""
Messages: properties, ids, and the kinds of message that a broker treats specially.

Begin with `properties` and `property_names`. `topic_names` has the system topics.
Delayed messages, retries and transactions have one module each.
"""
