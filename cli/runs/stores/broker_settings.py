"""
Settings in the configuration of a broker whose store is examined.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from reference.core.settings import read_properties
from reference.shell.settings_files import read_settings_text
from reference.shell.tls import take_tls
from spec.store.file_names import COMMIT_LOG


def broker_settings(broker_conf: Path) -> dict[str, str]:
    """Return the settings in *broker_conf*, without those about TLS; OSError."""
    settings = read_properties(read_settings_text(broker_conf))
    take_tls(settings)
    return settings


def warn_of_other_log(settings: Mapping[str, str], store: Path) -> None:
    """Show a line on stderr if the broker with *settings* has its log elsewhere.

    Its store must be *store* itself: a copy has the configuration of its original.
    """
    root, log = (settings.get(f"storePath{one}") for one in ("RootDir", "CommitLog"))
    if root and log and _is_same(root, store) and not _is_same(log, store / COMMIT_LOG):
        place = f"the broker's storePathCommitLog is {log}"
        click.echo(f"{place}, but {store / COMMIT_LOG} is examined", err=True)


def _is_same(path: str, other: Path) -> bool:
    return os.path.exists(path) and other.exists() and other.samefile(path)
