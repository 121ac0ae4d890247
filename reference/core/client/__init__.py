"""
A client's decisions, as 4.6.0 takes them: values in, effects out, time passed in.

Begin with `client_instance`: a `GroupMember` is a producer or a consumer, with the
requests and routes of its `ClientInstance`. `docs/client.md` follows one send.
"""
