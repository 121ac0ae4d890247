"""How a RocketMQ 4.6.0 peer behaves, written to be read and able to be run."""
