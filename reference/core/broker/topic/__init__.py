"""
Topics: their configuration, and the requests that change and list it.

Begin with `topic_config`.
"""
