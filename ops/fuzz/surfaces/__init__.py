"""The surfaces: each way by which bytes from outside reach a process of ours."""
