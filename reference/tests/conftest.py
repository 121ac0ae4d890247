"""Property tests of the reference have no deadline: a busy machine is no finding."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
if settings.get_current_profile_name() == "default":
    settings.load_profile("patient")
