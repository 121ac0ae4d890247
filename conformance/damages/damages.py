"""
All damages of a store, by name: ``rmqc recover`` must predict their outcome.

Each is a function of the store that a broker wrote and closed. Many exist twice,
without and with the file abort, which changes the start of recovery. The store itself
is :mod:`conformance.damages.base_store`.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.damages.damage import Damage
from conformance.damages.damaged_log import LOG
from conformance.damages.damaged_queues import CHECKPOINTS, INDEXES, QUEUES
from conformance.damages.damaged_settings import SETTINGS

DAMAGES: Mapping[str, Damage] = {**LOG, **QUEUES, **INDEXES, **CHECKPOINTS, **SETTINGS}
"""Every damage by its name."""
