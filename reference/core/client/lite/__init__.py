"""
The lite pull consumer: it pulls ahead, and the application polls.

Begin with `lite_pull_consumer`. `pull_loop` pulls its queues, `commits` commits the
offsets up to which they were polled.
"""
