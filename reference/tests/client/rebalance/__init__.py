"""Tests of allocated queues and their process queues."""
