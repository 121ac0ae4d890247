"""
The message store: one commit log, and the consume queues and index made from it.

Begin with ``message_store.MessageStore``, the interface of a broker::

    MessageStore(files, options, now_ms)           load, recover, dispatch
    append(messages, now_ms) -> list[PutResult]    one result for each message
    dispatch() -> list[DispatchRequest]            fill queues and index
    get(topic, queue_id, offset, count_max, ...) -> GetMessageResult
    query(topic, key, count_max, begin_ms, end_ms) -> QueryResult
    deliver_delayed_messages(now_ms) -> list[PutResult]
    flush_log(), flush_queues()
    stop()

``types`` has the values that go in and out. One message passes ``commitlog`` (append),
``dispatcher`` (to ``consumequeue`` and ``index``) and ``get_message``. ``mapped`` has
the files below; ``flush``, ``cleaning`` and ``delay`` work on timers.
"""
