"""
The message store: one commit log, and the queues and index made from it.

``message_store.MessageStore(files, options)`` is all that a broker needs::

    start(now_ms)                                  load, recover, catch up
    put(message, now_ms) -> PutResult
    put_batch(message, now_ms) -> PutResult
    dispatch() -> list[Arrival]                    fill queues and index
    get(topic, queue_id, offset, count_max, tags_codes=None, accepts=None) -> GetResult
    min_offset(topic, queue_id), max_offset(topic, queue_id) -> int
    offset_by_time(topic, queue_id, timestamp_ms) -> int
    stored_at(topic, queue_id, queue_offset) -> int    -1 where there is none
    earliest_stored_at(topic=None, queue_id=None) -> int
    record_at(physical_offset) -> memoryview | None
    query(topic, key, count_max, begin_ms, end_ms) -> QueryResult
    deliver_due(now_ms) -> list[PutResult]          delayed messages whose time has come
    flush_log(now_ms), flush_queues(now_ms)
    clean_unused_topics(topics)
    stop(now_ms)

``config_files.ConfigFiles(files)`` keeps the JSON files of ``config/``. The files
come from ``files.MemoryFiles()`` or ``reference.shell.disk.DiskFiles(directory)``.
"""
