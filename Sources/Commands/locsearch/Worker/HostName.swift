import LibC

/// The name of the machine on which this process runs. In Kubernetes it is the pod's name.
enum HostName {
    /// `nil` if the system has no name.
    static let own: String? = {
        // Linux allows 64 bytes. `ProcessInfo.hostName` is not used, because it may wait seconds for DNS.
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }()
}
