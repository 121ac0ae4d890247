"""
Security: signed requests, access control and TLS.

`signature` has the signature of a request. `plain_acl` has the rules of plain_acl.yml,
up to 5.3.2. `permissions` has the permission that each request needs, and `white_list`
the addresses without a check. `users` and `policies` are about 5.3 and later.
"""
