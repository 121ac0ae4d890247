"""
The push consumer: messages are pulled ahead and delivered to a listener.

Begin with `push_consumer`, which joins the parts. `push_pull_loop` pulls the assigned
queues, `concurrently` and `orderly` deliver their messages, `send_back` returns failed
ones to the group, and `admin_request_handler` responds to requests of administrators.
"""
