"""
Administration of a broker (Java: AdminBrokerProcessor).

Begin with `admin`: topics, groups and configuration. `admin_processor` is the table of
request codes and their responses. `statistics` describes consumer progress and traffic.
"""
