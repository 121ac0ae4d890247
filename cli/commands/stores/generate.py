"""``rmqc generate``: make a store of any size, with planted faults if requested."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options.common import LocalPath, list_option
from cli.options.exit_codes import USAGE, fail
from cli.options.progress import parts_written
from conformance.harness.report.terminal.line_width import wrapped

if TYPE_CHECKING:
    from spark_checks.generate.plan import Plan

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class _Size(click.ParamType):  # type: ignore[type-arg] # as click is typed
    """A number of bytes, with K, M, G or T behind it or without."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return *value* in bytes."""
        found = re.fullmatch(r"([0-9]{1,9})([KMGT]?)", str(value))
        if not found:
            self.fail(f"{value!r} is not a size such as 64M", param, ctx)
        return int(found[1]) * _UNITS[found[2]]


@click.command()
@click.argument(
    "store",
    required=False,
    type=LocalPath(file_okay=False, path_type=Path),
)
@click.option(
    "--size",
    type=_Size(),
    default="2M",
    show_default=True,
    help="Size of the commit log.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of the content."
)
@click.option(
    "--topics",
    type=click.IntRange(1, 9999),
    default=8,
    show_default=True,
    help="Number of topics, besides system topics.",
)
@click.option(
    "--queues",
    type=click.IntRange(1, 99),
    default=2,
    show_default=True,
    help="Queues of each topic.",
)
@click.option(
    "--body-size",
    type=_Size(),
    default="200",
    show_default=True,
    help="Bytes of the largest body.",
)
@click.option(
    "--messages",
    type=click.IntRange(min=1),
    help="Instead, this number of equal messages without keys, spread evenly over the"
    " queues: for thousands of queues, or for one with many millions.",
)
@click.option(
    "--rich",
    is_flag=True,
    help="Add optional data of a 5.x broker: consume queue extensions, LMQs, batch"
    " consume queues, popped messages, checksums of whole records. They add further"
    " kinds of faults.",
)
@list_option(
    "--faults",
    metavar="KIND,...|all",
    help="Plant these faults, or all that are compatible.",
)
@click.option(
    "--labels",
    type=LocalPath(dir_okay=False, path_type=Path),
    help="File for the list of planted faults (default: STORE.labels.json).",
)
@click.option("--list-faults", is_flag=True, help="List the kinds of faults.")
@click.option(
    "--master", help="Spark master whose workers write STORE (default: this process)."
)
def generate(
    *,
    store: Path | None,
    size: int,
    seed: int,
    topics: int,
    queues: int,
    body_size: int,
    messages: int | None,
    rich: bool,
    faults: str | None,
    labels: Path | None,
    list_faults: bool,
    master: str | None,
) -> None:
    """Generate a store: the same bytes for the same seed and options.

    It has messages of every kind: with tags and keys, compressed, delayed, of
    transactions, sent back, dead letters. Faults come from a catalogue. `rmqc audit
    STORE --score LABELS` scores an audit against them.
    """
    from reference.shell.storage.store_copy import removed_on_failure
    from spark_checks.generate.plan import Plan, PlanError
    from spark_checks.generate.store import check_root
    from spark_checks.generate.uniform import UniformPlan

    if list_faults:
        _list()
        return
    if store is None:
        raise click.UsageError("missing argument STORE")
    if messages is not None and (faults or rich):
        raise click.UsageError(
            "--messages makes uniform stores, without --faults and --rich"
        )
    shape: dict[str, Any] = {
        "seed": seed,
        "topics": topics,
        "queues": queues,
        "body_size": body_size,
    }
    try:
        if messages is not None:
            plan: Plan = UniformPlan(messages=messages, **shape)
        else:
            plan = Plan(is_rich=rich, **shape).with_size(size)
        check_root(store)
        with removed_on_failure(store):
            _write(store, plan, master)
            if faults:
                _plant(store, plan, faults, labels or Path(f"{store}.labels.json"))
    except PlanError as error:
        fail(error, code=USAGE)
    except OSError as error:
        output = error.filename or store
        fail(f"{output} cannot be written: {error.strerror or error}", code=USAGE)


def _write(store: Path, plan: Plan, master: str | None) -> None:
    from spark_checks.generate.store import generate as generate_store
    from spark_checks.session.failures import SparkError
    from spark_checks.session.session import spark_context

    if master is None:
        with parts_written(store, plan.files) as on_part:
            generate_store(store, plan, on_part=on_part)
        return
    try:
        with spark_context(master) as context:
            generate_store(store.absolute(), plan, context)
    except SparkError as error:
        fail(error)


def _plant(store: Path, plan: Plan, faults: str, labels: Path) -> None:
    from spark_checks.faults.catalogue import CATALOGUE, plant_all, sheets
    from spark_checks.faults.labels import write_labels

    own = [kind for kind, fault in CATALOGUE.items() if fault.is_rich == plan.is_rich]
    wanted = own if faults == "all" else faults.split(",")
    unknown = [kind for kind in wanted if kind not in own]
    if unknown:
        store_kind = "rich" if plan.is_rich else "basic"
        raise click.UsageError(
            f"no fault {', '.join(unknown)} of a {store_kind} store; see --list-faults"
        )
    together, *others = sheets(wanted)
    left_out = [kind for sheet in others for kind in sheet]
    if left_out and faults != "all":
        raise click.UsageError(f"{', '.join(left_out)} do not go with the others")
    planted = plant_all(store, plan, together)
    write_labels(labels, planted, seed=plan.seed)
    click.echo(f"planted faults: {len(planted)}, listed in {labels}")
    if left_out:
        click.echo(f"left out, for they do not go with these: {', '.join(left_out)}")


def _list() -> None:
    from spark_checks.faults.catalogue import CATALOGUE

    width = max(map(len, CATALOGUE))
    for kind, fault in CATALOGUE.items():
        rich = " (--rich)" if fault.is_rich else ""
        row = f"{kind:{width}}  "
        click.echo(wrapped(f"{row}{fault.description}{rich}", len(row)))
