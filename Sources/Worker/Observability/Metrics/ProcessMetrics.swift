import LibC

/// The metrics of the process itself, under the names that Prometheus client libraries use. Empty on systems without
/// /proc.
package enum ProcessMetrics {
    /// Reads the current values.
    package static var prometheusText: String {
        guard let status = contents(of: "/proc/self/stat"), let close = status.lastIndex(of: ")") else { return "" }
        // Indices in proc(5), counted from its third field: state is 0, utime 11, stime 12, starttime 19, rss 21.
        let fields = status[status.index(after: close)...].split(separator: " ")
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
            let start = Double(fields[19]), let pages = Double(fields[21])
        else { return "" }

        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return PrometheusText.family("process_cpu_seconds_total", (user + system) / ticks)
            + PrometheusText.family("process_resident_memory_bytes", pages * Double(sysconf(Int32(_SC_PAGESIZE))))
            + (bootTime.map { PrometheusText.family("process_start_time_seconds", $0 + start / ticks) } ?? "")
            + (openFiles.map { PrometheusText.family("process_open_fds", Double($0)) } ?? "")
            + (mostFiles.map { PrometheusText.family("process_max_fds", $0) } ?? "")
    }

    /// The boot time of the system, in seconds since 1970. The start of a process is relative to it.
    private static let bootTime: Double? = {
        let line = contents(of: "/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }()

    /// The number of open file descriptors, without the one that is used for counting.
    private static var openFiles: Int? {
        guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(directory) }

        var entries = 0
        while unsafe readdir(directory) != nil { entries += 1 }
        // Two entries are the directory itself and its parent.
        return entries - 3
    }

    private static var mostFiles: Double? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
    }

    /// Reads a whole file of /proc.
    private static func contents(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }

        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            text += piece[..<count]
        }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }
}
