"""RocketMQ in containers where no image can be pulled: an engine, an image."""
