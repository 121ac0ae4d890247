"""Times in options: ISO 8601, or milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

import click


class Moment(click.ParamType[int]):
    """A time, as milliseconds since 1970; one without a zone is in UTC."""

    name = "time"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Return the milliseconds of *value*."""
        if isinstance(value, int):
            return value
        try:
            return time_ms(str(value))
        except TimeError as error:
            self.fail(str(error), param, ctx)


class TimeError(ValueError):
    """A time is not valid."""


def time_ms(text: str) -> int:
    """Return milliseconds since 1970 from *text*: a number, or a time in ISO 8601.

    A time without a zone is in UTC.
    """
    if text.isascii() and text.isdigit() and len(text) > len("20261122"):
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise TimeError(
            f"{text} is neither a time such as 2026-11-22T08:00:00Z nor milliseconds"
        ) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)
