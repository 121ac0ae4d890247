"""
Pulling messages: requests, results, and the consumer that pulls on demand.

Begin with `pull_request`, which every consumer uses. `message_ext` decodes records,
`subscription` builds and checks filters, `pull_consumer` is the application's interface
of explicit pulls and offsets.
"""
