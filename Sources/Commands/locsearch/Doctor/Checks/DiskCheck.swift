import LibC

/// Checks the free disk space for the log, which is the only file that a worker may write.
struct DiskCheck: DoctorCheck {
    static let name = "disk"

    private static let fewestBytes: UInt64 = 100 << 20

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard let free = Self.freeBytesForLog else {
            return [ok("a worker writes no files; its log goes to standard error, which is not a file here")]
        }

        let size = "\(free >> 20) MB are free on the disk of the log (standard error)"
        guard free < Self.fewestBytes else { return [ok(size)] }
        return [warning(size, cure: "free some space, or rotate the log")]
    }

    /// The free bytes on the disk to which standard error is written; `nil` if standard error is not a file.
    private static var freeBytesForLog: UInt64? {
        var status = stat()
        var system = statvfs()
        guard unsafe fstat(2, &status) == 0, status.st_mode & S_IFMT == S_IFREG, unsafe fstatvfs(2, &system) == 0 else {
            return nil
        }
        return UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize)).partialValue
    }
}
