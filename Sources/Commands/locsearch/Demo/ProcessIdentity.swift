import LibC

/// Returns true while a process with this id exists, whichever user owns it.
func processIsAlive(_ pid: Int32) -> Bool { pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) }

/// The id of this process.
var ownProcessID: Int32 { getpid() }
