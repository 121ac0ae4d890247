"""
Settings in the configuration of a broker whose store is examined.
"""

from __future__ import annotations

from pathlib import Path

from reference.core.settings import read_properties
from reference.shell.settings_files import read_settings_text
from reference.shell.tls import take_tls


def broker_settings(broker_conf: Path) -> dict[str, str]:
    """Return the settings in *broker_conf*, without those about TLS; OSError."""
    settings = read_properties(read_settings_text(broker_conf))
    take_tls(settings)
    return settings
