"""
Bodies of requests and responses in JSON, as fastjson writes them.

Begin with `json_body`, which declares a body as a dataclass. `fastjson` is the decoder
and encoder of the dialect, and `zlib_stream` inflates compressed bodies. The other
modules each declare the bodies of one subject.
"""
