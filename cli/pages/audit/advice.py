"""
Next steps of an operator: what is lost, and what to do first.

The advice is for people who must start a broker. It depends on the forecast of a start
(`StartForecast`), and never makes a start on a damaged log easier. The least
destructive step comes first. An audit itself only reads.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from cli.pages.audit.audited_store import AuditedStore
from cli.pages.audit.groups import by_kind, count_of
from cli.pages.audit.start_forecast import StartForecast, number_of
from cli.pages.audit.wrong_names import UNPACKERS, missing_files
from spark_checks.audit import Audit
from spark_checks.findings import (
    EXPLAINED,
    EXPLAINED_HERE,
    INVARIANTS,
    WRONG_NAME,
    Finding,
    Severity,
    in_order,
    is_about_two_stores,
    is_damage,
)

SHOWN_FILES = 5
"""Files that are brought back by a command each, at most."""
RESTORED = INVARIANTS["INV-LOG-001"].advice
OF_THE_FILE_ALONE = (
    *("INV-CONFIG-001", "INV-CONFIG-003", "INV-CONFIG-004", "INV-CONFIG-005"),
)
"""Invariants of a configuration file that no damage to the commit log breaks."""
OF_SOME_KEYS = tuple(f"INV-INDEX-{number:03}" for number in (3, 5, 6, 7, 8, 9, 10))
"""Invariants of an index that leave the lookups by other keys as they are."""
INDEX_AND_QUEUES = ("consumequeue", "batchconsumequeue", "index")
"""Directories without which a start builds the index again (4.6.0
store.DefaultMessageStore#start): it dispatches records that are in no queue."""
CAUSES = ("INV-AGAINST", "INV-LOG", *OF_THE_FILE_ALONE)
"""Families and invariants whose findings never follow from damage to the log."""
TEXTS: Mapping[str, str] = {
    name: text.replace(EXPLAINED_HERE, EXPLAINED)
    for name, text in tomllib.loads(
        Path(__file__).with_name("advice.toml").read_text(encoding="utf-8")
    ).items()
}
"""Texts of advice.toml, by name."""
REWRITES = {
    "topics.json.bak": "updateTopic` of any topic",
    "subscriptionGroup.json.bak": "updateSubGroup` of any group",
}
"""Subcommand of mqadmin that makes a broker write a file, by name of its copy."""
NO_FORECAST = StartForecast(release="RELEASE")
"""In place of a forecast: a start without effects, of the release in a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Headline and first steps for the findings of one store."""

    store: AuditedStore

    @property
    def audit(self) -> Audit:
        """The audit of the store."""
        return self.store.audit

    @property
    def forecast(self) -> StartForecast:
        """Start on the store as it is."""
        return self.store.forecast or NO_FORECAST

    @property
    def damage(self) -> list[Finding]:
        """Errors that damage the commit log, also those that were not requested."""
        found = [one for one in self.audit.findings if is_damage(one)]
        return in_order([*found, *self.audit.unrequested_damage])

    @property
    def is_log_short(self) -> bool:
        """Whether every record can be read, but units show that files are missing."""
        return self.forecast.is_log_short and not self.damage

    @property
    def is_unsafe(self) -> bool:
        """Whether the log is damaged, or a start loses or hides messages."""
        return bool(self.damage) or self.forecast.is_harmful_to_messages

    @property
    def headline(self) -> str | None:
        """The damage and the losses of a start, or None for a sound store."""
        own = [one for one in self.audit.findings if not is_about_two_stores(one)]
        errors = [one for one in own if one.severity is Severity.ERROR]
        if not own and not self.damage:
            return None
        part = "" if self.audit.is_log_read_whole else "audited part of the "
        if self.is_log_short:
            log, foreign = f"The {part}commit log", self.forecast.foreign_files
            found = TEXTS["FOREIGN" if foreign else "SHORT"].format(
                log=log, files=" and ".join(foreign)
            )
        elif self.damage:
            places = number_of(count_of(self.damage), "place")
            found = TEXTS["DAMAGED"].format(places=places, file=self.damage[0].file)
        elif not errors and not self.store.is_harmed_by_start:
            if len(own) < len(self.audit.findings):
                return None  # each difference of the two stores is an error
            found = _without_errors(own)
            if not self.forecast.lost:
                return found
        elif not errors:
            found = TEXTS["HARMFUL"]
        elif any(one.invariant.id == "INV-LOG-001" for one in own):
            found = TEXTS["TORN"].format(log=f"The {part}commit log")
        elif self._is_refused:
            found = TEXTS["REFUSED"]
        else:
            found = TEXTS["UNDAMAGED"].format(part=part)
        return f"{found} {self.forecast.result}" if self.store.forecast else found

    @property
    def first_steps(self) -> list[tuple[str, list[str]]]:
        """Steps with commands if a start fails or does harm, in their order."""
        if not self.is_unsafe:
            last_resort = [(TEXTS["SALVAGE_REFUSED"], [self._salvage])]
            found = {one.invariant.id for one in self.audit.findings}
            is_needed = self._is_refused and WRONG_NAME not in found
            return self._moved_obstacle or (last_resort if is_needed else [])
        store = shlex.quote(self.audit.store)
        copy = shlex.quote(self._beside("copy"))
        forecast = f"rmqc recover {store} --release {self.forecast.release} --dry-run"
        restored = self._restored
        return [
            (TEXTS["NO_START"], []),
            (TEXTS["COPY"], [f"cp -a {store} {copy}"]),
            *([] if self._has_rocksdb else [(TEXTS["LIST"], [forecast])]),
            *self._moved_obstacle,
            *self._renamed,
            *restored,
            (TEXTS["SALVAGE"] if restored else TEXTS["SALVAGE_UNITS"], [self._salvage]),
        ]

    @property
    def _is_refused(self) -> bool:
        """Whether the broker does not start."""
        return self.forecast.refusal is not None

    @property
    def _has_rocksdb(self) -> bool:
        """Whether no start can be forecast."""
        return self.audit.listing.has_queues_in_rocksdb

    @property
    def _may_rebuild(self) -> bool:
        """Whether a forecast shows that a start without queues builds all of them."""
        rebuilt = self.forecast.rebuilt
        return rebuilt is not None and rebuilt.is_harmless and not self._has_rocksdb

    @property
    def _again(self) -> str:
        """The command that audits the store again."""
        return f"rmqc audit {shlex.quote(self.audit.store)}"

    @property
    def _salvage(self) -> str:
        """The command that writes a new store."""
        new = shlex.quote(self._beside("salvaged"))
        return f"rmqc salvage {shlex.quote(self.audit.store)} -o {new}"

    @property
    def _moved_obstacle(self) -> list[tuple[str, list[str]]]:
        """The step that moves a directory out of the store, or deletes empty files.

        A start stops at the first of them, and a copy on a full disk leaves many.
        """
        obstacle = self.forecast.obstacle
        if obstacle is None:
            return []
        if self.audit.listing.file(obstacle) is None:
            return [(TEXTS["OBSTACLE"], [*self._moves([obstacle]), self._again])]
        store = shlex.quote(self.audit.store)
        empty = f"find -L {store} -type f -empty -name '[0-9]*' -delete"
        return [(TEXTS["EMPTY"], [empty, self._again])]

    @property
    def _renamed(self) -> list[tuple[str, list[str]]]:
        """The step that gives missing files their names again, which others have."""
        findings = self.audit.findings
        files = [one.file for one in findings if one.invariant.id == WRONG_NAME]
        missing = missing_files(self.audit.listing, files)
        if not missing:
            return []
        back = []
        for file, name in missing.items():
            unpacker = UNPACKERS.get(file.removeprefix(name))
            names = [file] if unpacker else [file, name]
            words = [shlex.quote(self._path(one)) for one in names]
            back.append(" ".join([unpacker or "mv", *words]))
        others = self._moves(file for file in files if file not in missing)
        return [(TEXTS["RENAMED"], [*back, *others, self._again])]

    @property
    def _restored(self) -> list[tuple[str, list[str]]]:
        """The step that brings files of the log back, if files of it are bad."""
        cut_file = self.forecast.cut_file
        damaged = [*self.forecast.foreign_files, *([cut_file] if cut_file else [])]
        if self.is_log_short and not damaged:
            log = shlex.quote(self._path("commitlog/"))
            return [
                (
                    self._from_other(TEXTS["MORE_FILES"]),
                    [f"cp -an {self._donor}/commitlog/. {log}", self._again],
                )
            ]
        damaged = [*(damaged * self.is_log_short), *(one.file for one in self.damage)]
        files = list(dict.fromkeys(damaged))
        donors = {
            file: self._donor if self._is_whole_there(file) else "OTHER"
            for file in files[:SHOWN_FILES]
        }
        back = [
            f"cp -a {donor}/{shlex.quote(file)} {shlex.quote(self._path(file))}"
            for file, donor in donors.items()
        ]
        text = RESTORED if "OTHER" in donors.values() else self._from_other(RESTORED)
        return [(text, [*back, self._again])] if files else []

    def _is_whole_there(self, file: str) -> bool:
        """Return whether the compared log has each message of *file* that is here.

        An older backup ends within a file, or before it. Its file would replace later
        messages by zeros.
        """
        against = self.audit.against or {}
        here, there = (
            int(cast("Mapping[str, str]", against.get(side, {})).get("end", "0"))
            for side in ("here", "there")
        )
        later = [one.base for one in self.audit.listing.commit_log if one.path > file]
        return min([*later, here]) <= there

    @property
    def _donor(self) -> str:
        """The quoted directory that files are copied from.

        OTHER if it is unknown or remote, or if the compared store has another log.
        """
        other = str(self.audit.against["store"]) if self.audit.against else "://"
        is_usable = "://" not in other and not self._has_another_log
        return shlex.quote(other.rstrip("/")) if is_usable else "OTHER"

    @property
    def _has_another_log(self) -> bool:
        """Whether the compared store has other records where this one is undamaged.

        A salvaged store has other queue offsets: its files do not fit.
        """
        ranges = cast(
            "Sequence[Mapping[str, int]]", (self.audit.against or {}).get("ranges", ())
        )
        changed = sum(one["changed"] for one in ranges)
        only_here = sum(one["only_here"] for one in ranges)
        is_other = only_here > 0 and not self.forecast.foreign_files
        return is_other or changed > count_of(self.damage)

    def _from_other(self, text: str) -> str:
        """Return *text* without the explanation of OTHER where no command has it."""
        is_local = self._donor != "OTHER"
        return text.replace(EXPLAINED, "") if is_local else text

    def for_group(self, findings: Sequence[Finding]) -> tuple[str, list[str]]:
        """Return a sentence and commands for *findings* of one invariant."""
        name = findings[0].invariant.id
        usual = findings[0].invariant.advice.replace(EXPLAINED, "")
        family = name.rpartition("-")[0]
        if name == WRONG_NAME:
            moved = usual, self._moves(one.file for one in findings)
            renamed = self._renamed
            text, commands = next(iter(renamed), moved)
            return text, [] if self.is_unsafe and renamed else commands
        if (self.damage or self.is_log_short) and _is_effect(findings[0]):
            return TEXTS["AFTER_LOG"], []
        if self._waits_for_start(findings[0]):
            return TEXTS["AFTER_REFUSAL"], []
        if name in OF_THE_FILE_ALONE:
            return self._of_config(findings[0]) or usual, []
        if self._is_repaired(findings[0]):
            is_of_slave = self._was_closed_unfinished
            return TEXTS["BY_MASTER" if is_of_slave else "BY_ITSELF"], []
        is_of_queues = family != "INV-FILE" or all(
            one.file.startswith("consumequeue/") for one in findings
        )
        rebuilt = findings[0].invariant.start_rebuilds
        if rebuilt and is_of_queues:
            if self._may_rebuild:
                return self._without("REBUILD", rebuilt)
            return TEXTS["NO_REBUILD"], []
        if family == "INV-INDEX" and name != "INV-INDEX-011":
            return self._of_index(findings)
        return usual, []

    def _of_index(self, findings: Sequence[Finding]) -> tuple[str, list[str]]:
        """Return the advice to build the index again, if the forecast allows it."""
        if self._may_rebuild:
            return self._without("REBUILD_INDEX", INDEX_AND_QUEUES)
        invariant = findings[0].invariant
        if invariant.id in OF_SOME_KEYS:
            return TEXTS["KEEP_INDEX"], []
        return invariant.advice, self._moves(
            one.file for one in findings if one.file.startswith("index/")
        )

    def _of_config(self, finding: Finding) -> str | None:
        """Return the advice for a file, None where that of its invariant is right."""
        unread = ("INV-CONFIG-001", "INV-CONFIG-003", "INV-CONFIG-005")
        if finding.invariant.id not in unread:
            return None
        broken = {one.file for one in self.audit.findings if one.invariant.id in unread}
        path = finding.file.removesuffix(".bak")
        other = path if path != finding.file else f"{path}.bak"
        if other in broken or self.audit.listing.file(other) is None:
            return TEXTS["NO_COPY"]
        if other != path:
            return None
        command = REWRITES.get(finding.file.rpartition("/")[2])
        return TEXTS["REWRITE" if command else "PERSISTED"].format(command=command)

    def cost_of(self, findings: Sequence[Finding]) -> str:
        """Return the cost of *findings* of one invariant, which a start may prevent."""
        invariant, files = findings[0].invariant, {one.file for one in findings}
        if invariant.id.startswith("INV-LOG") and self._is_repaired(findings[0]):
            return TEXTS["UNFINISHED"]
        states = self.forecast.config_states
        read = [f"{file} {state}." for file, state in states if file in files]
        if not read:
            return invariant.cost
        return f"At the start of a {self.forecast.release} broker: {' '.join(read)}"

    @property
    def _was_closed_unfinished(self) -> bool:
        """Whether a slave, or a broker in controller mode, was stopped in order."""
        store = self.audit.listing
        return store.may_be_unfinished and not store.was_left_open

    def _is_repaired(self, finding: Finding) -> bool:
        """Return whether *finding* is unfinished work that a harmless start repairs.

        Only after a crash a start deletes index files.
        """
        is_index = finding.invariant.id.startswith("INV-INDEX")
        return (
            finding.severity is Severity.WARNING
            and finding.invariant.start_repairs
            and not (is_index and self._was_closed_unfinished)
            and not self.damage
            and not self.store.is_harmed_by_start
        )

    def _waits_for_start(self, finding: Finding) -> bool:
        """Return whether a start repairs *finding*, but the broker does not start."""
        if not self._is_refused:
            return False
        obstacle, invariant = self.forecast.obstacle, finding.invariant
        is_named = any(one.invariant.id == WRONG_NAME for one in self.audit.findings)
        if _is_effect(finding) and (is_named or obstacle is not None):
            return True
        is_at_fault = finding.file == obstacle and not is_damage(finding)
        is_warning = finding.severity is Severity.WARNING
        is_repaired = invariant.start_repairs or bool(invariant.start_rebuilds)
        is_of_log = invariant.id.startswith("INV-LOG")
        return is_at_fault or (is_warning and is_repaired and not is_of_log)

    def _without(self, text: str, directories: Sequence[str]) -> tuple[str, list[str]]:
        """Return a *text* about a start without *directories*, which are moved."""
        found = [d for d in directories if d in self.audit.listing.directories]
        if not found:
            return TEXTS["REBUILD_MISSING"].format(name=directories[0]), []
        return TEXTS[text].format(names=" and ".join(found)), self._moves(found)

    def _moves(self, paths: Iterable[str]) -> list[str]:
        """Return commands that move *paths* out of the store."""
        return [
            f"mv {shlex.quote(self._path(path))} {shlex.quote(self._beside(path))}"
            for path in dict.fromkeys(paths)
        ]

    def _path(self, path: str) -> str:
        return f"{self.audit.store.rstrip('/')}/{path}"

    def _beside(self, path: str) -> str:
        return f"{self.audit.store.rstrip('/')}.{path.replace('/', '-')}"


def _is_effect(finding: Finding) -> bool:
    """Return whether *finding* may follow from damage, or from a broker that is off."""
    return not finding.invariant.id.startswith(CAUSES) and not is_damage(finding)


def _without_errors(warnings: Sequence[Finding]) -> str:
    """Return the headline of a store that has only *warnings*."""
    left = [one for one in warnings if not one.invariant.start_repairs]
    if not left:
        return TEXTS["NO_ERRORS"]
    kinds = number_of(len({one.invariant.id for one in left}), "kind")
    return TEXTS["WARNINGS"].format(kinds=kinds)


def next_steps(advice: Advice) -> list[dict[str, object]]:
    """Return a step for each invariant and severity, in the order of the findings.

    No command is in two steps, because a file can be moved only once.
    """
    found: list[dict[str, object]] = []
    steps: dict[str, str] = {}
    given: set[str] = set()
    for findings in by_kind(advice.audit.findings):
        name = findings[0].invariant.id
        do, commands = advice.for_group(findings)
        first = steps.setdefault(do, name) if commands else name
        commands = [one for one in commands if one not in given]
        given.update(commands)
        if first != name and not commands:
            do = TEXTS["SAME"].format(name=first)
        found.append(
            {
                "invariant": name,
                "severity": str(findings[0].severity),
                "count": count_of(findings),
                "cost": advice.cost_of(findings),
                "do": do,
                "commands": commands,
            }
        )
    return found
