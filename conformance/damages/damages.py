"""
All damages of a store, by name: what ``rmqc recover`` must foresee the outcome of.

Each is a function from the store that a broker wrote and closed in order; many are
there twice, without the file abort and with it, for a broker believes it and looks
elsewhere. The store itself is :mod:`conformance.damages.rolled`.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.damages.damage import Damage
from conformance.damages.damaged_log import LOG
from conformance.damages.damaged_queues import CHECKPOINTS, INDEXES, QUEUES
from conformance.damages.damaged_settings import SETTINGS

DAMAGES: Mapping[str, Damage] = {**LOG, **QUEUES, **INDEXES, **CHECKPOINTS, **SETTINGS}
"""Every damage by its name."""
