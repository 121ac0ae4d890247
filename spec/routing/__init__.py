"""What brokers tell name servers, and what name servers tell clients."""
