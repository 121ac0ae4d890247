"""
Targets that are started here: the reference, Java, a Docker image, a target file.

Begin with ``started_target.py``, their base class.
"""
