"""
The store against a list, over sequences of put, dispatch, stop and kill.
"""

from __future__ import annotations

from hypothesis import settings

from reference.tests.store.store_machine import DiskStoreMachine, StoreMachine

TestStoreInMemory = StoreMachine.TestCase
TestStoreInMemory.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None
)
TestStoreOnDisk = DiskStoreMachine.TestCase
TestStoreOnDisk.settings = settings(
    max_examples=12, stateful_step_count=30, deadline=None
)
