"""Spark itself: clusters, workers, S3, and the sizes of tasks."""
