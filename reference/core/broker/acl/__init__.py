"""
Access control by plain_acl.yml (Java: module acl of 4.6.0).

Begin with `access_control`, which checks each request before its handler. `accounts`
reads the file, and `permissions` has the permission that each request needs.
"""
