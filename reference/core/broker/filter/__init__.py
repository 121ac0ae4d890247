"""
Selection of messages: by tag, by SQL92 expression, by the bit maps of consume queues.

Begin with `subscription`. `consumer_filters` has the expressions of all groups.
"""
