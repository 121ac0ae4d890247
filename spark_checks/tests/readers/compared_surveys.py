"""Surveys in a form that tests compare."""

from __future__ import annotations

from spark_checks.survey.survey import Survey


def comparable(survey: Survey) -> tuple[object, ...]:
    """Return the comparable parts of a *survey*."""
    ledger = survey.ledger
    rows = {
        name: {column: values.tolist() for column, values in ledger.table(name).items()}
        for name in ledger.rows
    }
    return rows, ledger.is_incomplete, survey.summary
