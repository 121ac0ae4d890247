"""The properties of messages: how a broker reads, changes and adds them."""
