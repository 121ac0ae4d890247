"""
All damages of a store, by name: what ``rmqc recover`` must foresee the outcome of.

Each is a function from the store that a broker wrote and closed in order; many are
there twice, without the file abort and with it, for a broker believes it and looks
elsewhere. The store itself is :mod:`conformance.recovery.rolled`.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.recovery.damage import Damage
from conformance.recovery.damaged_log import LOG
from conformance.recovery.damaged_queues import CHECKPOINTS, INDEXES, QUEUES
from conformance.recovery.damaged_settings import SETTINGS

DAMAGES: Mapping[str, Damage] = {**LOG, **QUEUES, **INDEXES, **CHECKPOINTS, **SETTINGS}
"""Every damage by its name."""
