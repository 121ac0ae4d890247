"""Measurements, each a ratio between the reference and Apache RocketMQ in one run."""
