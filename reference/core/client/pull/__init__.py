"""
Pulling messages: requests, results, and the consumers that an application calls.

Begin with `pull_request`, which every consumer uses. `message_ext` decodes records,
`subscription` builds and checks filters. `pull_consumer` is the application's interface
of explicit pulls and offsets. `lite_pull_consumer` pulls ahead and is polled.
"""
