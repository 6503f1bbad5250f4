"""One module per experiment or pair of them; each has EXPERIMENTS."""

ORDER = [
    "kill_9", "rolling_restart", "scale",
]
