"""
Selection and execution of the checks after the survey.

Begin with `surveyed_store`: each check takes it. `compare_rows` compares suspect
queues, `check_properties` system topics and keys, `check_lmq_and_batch` the other
queues.
"""
