"""
Small stores and messages for the store's tests.

The files are tiny, so that a handful of messages fills several of them.
"""

from __future__ import annotations

from msgspec import structs

from reference.core.store.mapped.files import Files
from reference.core.store.message_store import MessageStore
from reference.core.store.types import NewMessage, PutResult, StoreOptions
from reference.tests.memory_files import MemoryFiles
from spec.host import Host
from spec.store.message_record import Record, decode_record

BROKER = Host.of("127.0.0.1", 10911)
PRODUCER = Host.of("127.0.0.1", 50000)
NOON_MS = 1_700_000_000_000

TINY = StoreOptions(
    commit_log_file_size=1024,
    consume_queue_file_size=60,
    index_slot_count=5,
    index_item_count=8,
    max_message_size=900,
    preallocates_files=False,  # the tests count only files with messages
)


def message(
    topic: str = "T",
    queue_id: int = 0,
    body: bytes = b"hello",
    properties: str = "",
    system_flags: int = 0,
) -> NewMessage:
    """Return a message between the two hosts of the tests."""
    return NewMessage(
        topic=topic,
        queue_id=queue_id,
        body=body,
        properties=properties,
        born_at_ms=NOON_MS - 5,
        born_host=PRODUCER,
        store_host=BROKER,
        system_flags=system_flags,
    )


def started(
    files: Files | None = None, options: StoreOptions = TINY, now_ms: int = NOON_MS
) -> MessageStore:
    """Return a running store on *files*."""
    return MessageStore(MemoryFiles() if files is None else files, options, now_ms)


def killed(store: MessageStore, files: Files) -> MessageStore:
    """Return a new store on *files* as if the process of *store* had been killed."""
    files.unlock()
    return MessageStore(files, store.options, NOON_MS)


def all_records(store: MessageStore, topic: str, queue_id: int) -> list[Record]:
    """Return everything that a reader finds in a queue."""
    found: list[Record] = []
    offset = store.min_offset(topic, queue_id)
    while (
        response := store.get(topic, queue_id, offset, 3)
    ).next_begin_offset > offset:
        found += [decode_record(record) for record in response.records]
        offset = response.next_begin_offset
    return found


def wire_batch(*bodies: bytes, properties: bytes = b"") -> bytes:
    """Return *bodies* as the body of a batch request."""
    row = b""
    for body in bodies:
        head = (22 + len(body) + len(properties)).to_bytes(4, "big") + bytes(12)
        row += head + len(body).to_bytes(4, "big") + body
        row += len(properties).to_bytes(2, "big") + properties
    return row


def contents(files: MemoryFiles) -> dict[str, bytes]:
    """Return the bytes of all mapped files."""
    return {name: bytes(file.bytes) for name, file in files.mapped.items()}


def append_one(store: MessageStore, message: NewMessage, now_ms: int) -> PutResult:
    """Append one message."""
    return store.append([message], now_ms)[0]


def append_batch(store: MessageStore, message: NewMessage, now_ms: int) -> PutResult:
    """Append one batch."""
    return append_one(store, structs.replace(message, is_batch=True), now_ms)
