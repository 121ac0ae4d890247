"""
The remoting protocol: frames and commands on a connection (Java: RemotingCommand).

Begin with `frame`, then `command`. Headers have two encodings: `header_json` and
`header_rocketmq`. The tables of codes are `request_code` and `response_code`.
"""
