"""
The lite pull consumer: it pulls ahead, and the application polls.

Begin with `lite_pull_consumer`. `lite_pull_loop` pulls its queues.
"""
