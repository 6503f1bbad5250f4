import LibC

/// Returns true while a process of that number exists, of any user.
func processIsAlive(_ pid: Int32) -> Bool { pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) }

/// The number of our own process.
var ownProcessID: Int32 { getpid() }
