"""
The producer's side of a send (Java: DefaultMQProducerImpl).

Begin with `producer`: validation of a message, and its request. `select_queue` and
`latency_fault` describe the choice of a queue, `retry` the attempts after a failure.
"""
