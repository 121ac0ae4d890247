"""An audit and the forecast of a broker's start on the same store."""

from __future__ import annotations

from dataclasses import dataclass

from cli.pages.audit.start_forecast import StartForecast
from spark_checks.audit import Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedStore:
    """One store: its audit, and the forecast of a start on it."""

    audit: Audit
    forecast: StartForecast | None = None
    """Forecast of a broker's start; None without one."""

    @property
    def is_clean(self) -> bool:
        """Whether there are no errors, and the forecast start keeps every message."""
        return not self.audit.has_errors and not self.is_harmed_by_start

    @property
    def is_harmed_by_start(self) -> bool:
        """Whether the start does not succeed, or loses or hides messages."""
        return self.forecast is not None and not self.forecast.is_harmless
