"""
Messages on their way out to consumers.

Begin with `pull_message`; `long_polling` holds the requests that find nothing new.
"""
