"""One module per experiment or group of them; each has EXPERIMENTS."""

ORDER = [
    "kill_9", "rolling_restart", "upgrade", "scale", "scaling_out", "broker_faults", "provider_faults", "full_producer_queue", "stale", "hostile", "memory", "ordering", "supersede", "dead_letters",
    "rate_limit", "daily_budget", "resilience", "adaptive", "deadline", "exactly_once", "conformance", "dashboard", "alerts", "soak",
]
