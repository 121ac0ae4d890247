"""Effects of a broker's start on a store, in short, as an audit's report has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StartForecast:
    """One start of a broker, in numbers of messages."""

    release: str
    refusal: str | None = None
    """Reason why the broker does not start."""
    obstacle: str | None = None
    """Path in the store of a directory or empty file that prevents the start."""
    lost: tuple[tuple[str, int], ...] = ()
    """Topics and their messages that the start loses, the largest loss first."""
    unreadable: tuple[tuple[str, int], ...] = ()
    """The part of them that could not be read before the start."""
    invisible: int = 0
    """Messages that stay in the log, but that no consumer receives."""
    lost_later: int = 0
    """Messages that the next start loses besides, after an orderly stop."""
    lacks_files: bool = False
    """Whether several units show that files behind the end of the log are missing."""
    cut_file: str | None = None
    """The last file of a closed store's log, relative to the store, if units show that
    its end is missing."""
    config_states: tuple[tuple[str, str], ...] = ()
    """Paths of configuration files that are not read, each with the reason, and whether
    the .bak is read instead."""
    foreign_files: tuple[str, ...] = ()
    """Commit-log files, relative to the store, that hold another store's records."""
    deleted_files: tuple[str, ...] = ()
    """Deleted commit-log files, relative to the store."""
    rebuilt: StartForecast | None = None
    """The same start without the files of all queues."""

    @property
    def lost_count(self) -> int:
        """Number of lost messages."""
        return sum(count for _, count in self.lost)

    @property
    def is_harmless(self) -> bool:
        """Whether the broker starts and every message stays in its queue."""
        return self.refusal is None and not self.is_harmful_to_messages

    @property
    def is_harmful_to_messages(self) -> bool:
        """Whether messages are lost with files, or a start destroys or hides some."""
        harm = self.destroyed or self.invisible or self.lost_later
        return self.is_log_short or bool(harm)

    @property
    def is_log_short(self) -> bool:
        """Whether messages are lost because files of the log or its end are missing."""
        is_short = self.lacks_files or self.cut_file or self.foreign_files
        return bool(is_short and self.lost)

    @property
    def result(self) -> str:
        """The effect on messages, in one sentence for each of two starts."""
        if not self.lost_later:
            return self._first_result
        more = number_of(self.lost_later, "message")
        later = f"A later restart loses {more} more, and those stored until then."
        return f"{self._first_result} {later}"

    @property
    def _first_result(self) -> str:
        begin = f"The start of a {self.release} broker"
        gone = f"Already unreadable: {_loss(self.unreadable)}. " * bool(self.unreadable)
        if self.refusal is not None:
            failure = f"{gone}{begin} fails: {self.refusal}."
            if not self.destroyed:
                return failure
            return f"{failure} Lost: {_loss(self.destroyed)}."
        effects = [f"loses {_loss(self.destroyed)}"] if self.destroyed else []
        if self.invisible:
            hidden = number_of(self.invisible, "message")
            effects.append(f"leaves {hidden} in the log that no consumer receives")
        if not effects:
            return f"{gone}{begin} loses no message that can still be read."
        return f"{gone}{begin} {', and '.join(effects)}."

    @property
    def destroyed(self) -> tuple[tuple[str, int], ...]:
        """Topics and their messages that only the start makes unreadable."""
        left = Counter(dict(self.lost)) - Counter(dict(self.unreadable))
        return tuple(left.most_common())

    def as_json(self) -> dict[str, object]:
        """Return the forecast for the audit's JSON output."""
        return {
            "release": self.release,
            "starts": self.refusal is None,
            "refusal": self.refusal,
            "lost": self.lost_count,
            "lost_of": dict(self.lost),
            "unreadable": sum(count for _, count in self.unreadable),
            "destroyed": sum(count for _, count in self.destroyed),
            "invisible": self.invisible,
            "lost_later": self.lost_later,
            "deleted_files": list(self.deleted_files),
        }


def _loss(counts: Sequence[tuple[str, int]]) -> str:
    """Return a number of messages, in total and of the topics with most of them."""
    total = number_of(sum(count for _, count in counts), "message")
    if len(counts) == 1:
        return f"{total} of {counts[0][0]}"
    shown = [f"{count:,} of {topic}" for topic, count in counts[:3]]
    rest = counts[3:]
    if rest:
        count = sum(count for _, count in rest)
        shown.append(f"{count:,} of {number_of(len(rest), 'other topic')}")
    return f"{total}: {', '.join(shown)}"


def number_of(count: int, noun: str, plural: str | None = None) -> str:
    """Return *count* with *noun* in the singular or the plural."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
