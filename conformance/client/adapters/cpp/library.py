"""
Functions of librocketmq that the package ``rocketmq`` does not declare.

Handles of its C functions are pointers to the C++ objects, and the library exports the
C++ methods. Setters with numbers and getters are called by their mangled names. Methods
that throw are not called: an exception of C++ cannot pass through ctypes.

Strings of the library have the C++ ABI before GCC 5. A string is a pointer to its first
character, and its length is 24 bytes before that.
"""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_char_p, c_int, c_size_t, c_void_p
from typing import Any

from rocketmq.ffi import (
    QUEUE_SELECTOR_CALLBACK,
    _CMQException,
    _CSendResult,
    _CStatus,
    dll,
)

CONSUME_FROM_LAST_OFFSET = 0
CONSUME_FROM_FIRST_OFFSET = 4
_LENGTH_BEFORE = 24
_MAP_SIZE = 48
"""Size of a std::map in bytes."""
_NAME_END, _VALUE_END = "\x01", "\x02"

SUCCESS_CALLBACK = ctypes.CFUNCTYPE(None, _CSendResult)
"""Callback of an asynchronous send, which gets the result by value.

The package declares a pointer, and so reads status, id and offset at a wrong address.
"""
EXCEPTION_CALLBACK = ctypes.CFUNCTYPE(None, _CMQException)


def _method(name: str, *arguments: Any, result: Any = None) -> Any:
    """Return the C++ method of a mangled *name*; the object is its first argument."""
    method = dll[name]  # another object than dll.name, whose types the package sets
    method.argtypes = [c_void_p, *arguments]
    method.restype = result
    return method


set_retry_times = _method("_ZN8rocketmq17DefaultMQProducer13setRetryTimesEi", c_int)
set_async_retry_times = _method(
    "_ZN8rocketmq17DefaultMQProducer19setRetryTimes4AsyncEi", c_int
)
set_consume_from_where = _method(
    "_ZN8rocketmq21DefaultMQPushConsumer19setConsumeFromWhereENS_16ConsumeFromWhereE",
    c_int,
)
set_threshold_count = _method(
    "_ZN8rocketmq21DefaultMQPushConsumer26setMaxCacheMsgSizePerQueueEi", c_int
)
set_flag = _method("_ZN8rocketmq9MQMessage7setFlagEi", c_int)
set_wait_store = _method("_ZN8rocketmq9MQMessage17setWaitStoreMsgOKEb", c_bool)
_get_body = _method("_ZNK8rocketmq9MQMessage7getBodyEv", result=c_void_p)
_get_offset_id = _method(
    "_ZNK8rocketmq12MQMessageExt14getOffsetMsgIdEv", result=c_void_p
)
# These two return an object: its address is the hidden first argument.
_get_properties = _method("_ZNK8rocketmq9MQMessage13getPropertiesEv", c_void_p)
_properties_to_string = _method(
    "_ZN8rocketmq9MQDecoder24messageProperties2StringE"
    "RKSt3mapISsSsSt4lessISsESaISt4pairIKSsSsEEE",
    c_void_p,
)

send_async = dll["SendMessageAsync"]
send_async.argtypes = [c_void_p, c_void_p, SUCCESS_CALLBACK, EXCEPTION_CALLBACK]
send_async.restype = _CStatus
send_async_to = dll["SendMessageOrderlyAsync"]
send_async_to.argtypes = [
    *(c_void_p, c_void_p, QUEUE_SELECTOR_CALLBACK, c_void_p),
    *(SUCCESS_CALLBACK, EXCEPTION_CALLBACK),
]
send_async_to.restype = _CStatus
set_compress_over = dll["SetProducerCompressMsgBodyOverHowmuch"]
set_compress_over.argtypes = [c_void_p, c_int]
set_compress_over.restype = _CStatus
set_producer_instance = dll["SetProducerInstanceName"]
set_producer_instance.argtypes = [c_void_p, c_char_p]
set_producer_instance.restype = _CStatus


def latest_error() -> str:
    """Return the text of the last exception in this thread."""
    return (dll.GetLatestErrorMessage() or b"").decode("utf-8", "replace")


def body_of(message: int) -> bytes:
    """Return the whole body of a message; the package's ends at the first zero byte."""
    return _bytes_of(_get_body(message))


def offset_id_of(message: int) -> str:
    """Return the id that the broker gave to a received message."""
    return _bytes_of(_get_offset_id(message)).decode()


def properties_of(message: int) -> dict[str, str]:
    """Return all properties of a message."""
    copied = ctypes.create_string_buffer(_MAP_SIZE)
    _get_properties(ctypes.addressof(copied), message)
    text = c_void_p()
    _properties_to_string(ctypes.addressof(text), ctypes.addressof(copied))
    joined = _bytes_of(ctypes.addressof(text)).decode("utf-8", "replace")
    pairs = (one.split(_NAME_END, 1) for one in joined.split(_VALUE_END) if one)
    return dict(pairs)


def _bytes_of(text: int) -> bytes:
    """Return the bytes of the std::string at the address *text*."""
    start = c_void_p.from_address(text).value
    assert start is not None
    length = c_size_t.from_address(start - _LENGTH_BEFORE).value
    return ctypes.string_at(start, length)
