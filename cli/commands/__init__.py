"""Commands of ``rmqc``, a module for each; ``cli.main`` imports it when invoked."""
