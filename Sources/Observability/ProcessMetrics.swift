#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process's own figures under the names that Prometheus' client libraries use. Empty where there is no /proc.
package enum ProcessMetrics {
    package static var prometheusText: String {
        guard let status = contents(of: "/proc/self/stat"), let close = status.lastIndex(of: ")") else { return "" }
        // Fields of proc(5) from the third on: state is 0, utime 11, stime 12, starttime 19, rss 21.
        let fields = status[status.index(after: close)...].split(separator: " ")
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
            let pages = Double(fields[21])
        else { return "" }
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return PrometheusText.family(
            "process_cpu_seconds_total", .counter, help: "CPU time of all threads.", [([], (user + system) / ticks)])
            + PrometheusText.family(
                "process_resident_memory_bytes", .gauge, help: "Memory in use.",
                [([], pages * Double(sysconf(Int32(_SC_PAGESIZE))))])
    }

    private static func contents(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
