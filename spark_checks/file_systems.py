"""
File systems of stores: a local path, or a URL that Arrow or fsspec opens.

Files are opened for reading only. No error has the credentials of a URL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pyarrow import fs

from columns import file_holes
from columns.scan.log_file import ReadAt

_AZURE_SCHEMES = ("abfs", "abfss")
_GOOGLE_SCHEMES = ("gs", "gcs")
_ARROW_SCHEMES = (
    *("file", "s3", "hdfs", "viewfs"),
    *(*_AZURE_SCHEMES, *_GOOGLE_SCHEMES),
)
_GOOGLE_RETRY = "retry_limit_seconds"
_SHOWN_PARAMETERS = (
    *("region", "scheme", "endpoint_override", "enable_tls", _GOOGLE_RETRY),
    *("blob_storage_authority", "dfs_storage_authority"),
)
"""Parameters of a URL that are shown. Others may be parts of a SAS token or secrets."""


class NotAStoreError(Exception):
    """The place holds no store, or is not readable."""

    is_file_gone = False
    """Whether a listed file is not there any more, as beside a running broker."""


def unreadable(path: str, reason: str) -> NotAStoreError:
    """Return the error of a file or directory at *path*."""
    return NotAStoreError(f"{path} cannot be read: {reason}")


def open_filesystem(url: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of *url* and the path in it."""
    if "://" in url:
        return _opened(url)
    return fs.LocalFileSystem(), str(Path(url).absolute())


def is_same_place(url: str, other: str) -> bool:
    """Return whether both URLs lead to one directory, links and dots resolved."""
    (system, path), (other_system, other_path) = map(open_filesystem, (url, other))
    if isinstance(system, fs.LocalFileSystem):
        path, other_path = os.path.realpath(path), os.path.realpath(other_path)
    return system.equals(other_system) and path.rstrip("/") == other_path.rstrip("/")


@lru_cache(maxsize=16)
def _opened(url: str) -> tuple[fs.FileSystem, str]:
    """Return the file system and path of *url*, cached because remote ones connect.

    Arrow opens its own kinds of URLs, fsspec the others. Raises OSError.
    """
    scheme = url.partition("://")[0]
    if scheme in _ARROW_SCHEMES:
        if scheme in _AZURE_SCHEMES and urlsplit(url).password is not None:
            raise OSError("Arrow takes a SAS token from a URL, not an account key")
        limit = ""
        if scheme in _GOOGLE_SCHEMES and _GOOGLE_RETRY not in url:
            # By default Arrow tries to reach a server for 15 minutes.
            limit = f"{'&' if '?' in url else '?'}{_GOOGLE_RETRY}=20"
        try:
            system, path = fs.FileSystem.from_uri(url + limit)
        except OSError as error:
            if "libhdfs" not in str(error) and "libjvm" not in str(error):
                raise
            hint = "webhdfs://HOST:PORT/PATH needs no library of Hadoop"
            raise OSError(f"{first_line(error, url)}; {hint}") from None
        return system, path
    try:
        from fsspec.core import url_to_fs

        opened, path = url_to_fs(url)
    except (ImportError, ValueError) as error:  # a missing package, an unknown scheme
        raise OSError(first_line(error, url)) from None
    return fs.PyFileSystem(fs.FSSpecHandler(opened)), path


def shown_url(url: str) -> str:
    """Return *url* without the credentials in it.

    A password ends at the last ``@``, because keys with unescaped slashes occur.
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    user, at, place = rest.rpartition("@")
    if ":" not in user and re.search("[/?#]", user):  # an @ of the path
        place = rest
    elif at and scheme in _AZURE_SCHEMES:  # the container, or the account
        place = f"{user.partition(':')[0]}@{place}"
    place, _, query = place.partition("?")
    return f"{scheme}://{place}{_shown_query(query)}"


def _shown_query(query: str) -> str:
    """Return the parameters of *query* that are shown, behind a question mark."""
    parameters = query.split("&")
    shown = [one for one in parameters if one.partition("=")[0] in _SHOWN_PARAMETERS]
    return "?" + "&".join(shown) if shown else ""


@contextmanager
def reading(url: str, path: str) -> Iterator[ReadAt]:
    """Open the file at *path* of the store *url* and yield a function that reads it.

    Both raise NotAStoreError with the file's path.
    """
    system, root = open_filesystem(url)
    whole = f"{root.rstrip('/')}/{path}"

    def read_at(position: int, size: int) -> bytes:
        try:
            data: bytes = file.read_at(size, position)
        except Exception as error:
            raise unreadable(shown_url(whole), _reason(error, url)) from None
        return data

    try:
        file = system.open_input_file(whole)
    except Exception as error:
        problem = unreadable(shown_url(whole), _reason(error, url))
        problem.is_file_gone = isinstance(error, FileNotFoundError)
        raise problem from None
    with file:
        yield read_at


def ranges_with_data(url: str, path: str, size: int) -> list[range]:
    """Return the ranges of a file of *size* bytes that are not holes.

    The whole file is returned where holes are not reported.
    """
    system, root = open_filesystem(url)
    if isinstance(system, fs.LocalFileSystem):
        with suppress(OSError), Path(root, path).open("rb", buffering=0) as file:
            found = file_holes.ranges_with_data(file.fileno(), 0, size)
            return [range(begin, end) for begin, end in found]
    return [range(size)]  # also of a deleted file, whose reading fails


def _reason(error: Exception, url: str) -> str:
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number) if number else first_line(error, url)


def first_line(error: BaseException, url: str) -> str:
    """Return the first line of *error* without credentials of *url* in it."""
    text = str(error).replace(url, shown_url(url)) or type(error).__name__
    line = text.splitlines()[0].partition(" error_info=")[0]  # Google repeats itself
    # Azure's client has its own URLs in errors, with the whole query.
    queries = re.compile(r"\?([^\s'\"=]+=[^\s'\"]*)")
    return queries.sub(lambda found: _shown_query(found[1]), line)
