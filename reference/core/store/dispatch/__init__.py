"""
Dispatch: from appended records to consume-queue units and index items.

Begin with ``dispatcher`` (Java: DefaultMessageStore$ReputMessageService).
"""
