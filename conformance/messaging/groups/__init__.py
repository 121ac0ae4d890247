"""Consumer groups: members, locks of queues, committed offsets."""
