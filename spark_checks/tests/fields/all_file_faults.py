"""All faults of whole files, pages and settings."""

from __future__ import annotations

from spark_checks.tests.fields.file_faults import INDEX_FAULTS, LOG_FAULTS, QUEUE_FAULTS
from spark_checks.tests.fields.setting_faults import SETTING_FAULTS

FILE_FAULTS = (*LOG_FAULTS, *QUEUE_FAULTS, *INDEX_FAULTS, *SETTING_FAULTS)
