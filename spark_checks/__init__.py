"""What only a whole store can tell: audits of a store directory on Spark."""
