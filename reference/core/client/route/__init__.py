"""
Topic routes of a client, and the queues in them.

Begin with `routes`: the route table and its requests to name servers. `topic_queues`
derives the queues of a producer or a consumer from one route.
"""
