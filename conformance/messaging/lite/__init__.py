"""Lite topics, from 5.5 on: subscriptions, pops, administrators' requests."""
