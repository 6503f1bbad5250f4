"""What the experiments share: processes, brokers, the provider, workers, load, and the report."""
