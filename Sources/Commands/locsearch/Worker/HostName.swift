import LibC

/// The name by which people know the machine that this process runs on. In Kubernetes it is the pod's name.
enum HostName {
    /// `nil` where the system has none.
    static let own: String? = {
        // Linux allows 64 bytes. `ProcessInfo.hostName` would ask DNS, which may take seconds.
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }()
}
