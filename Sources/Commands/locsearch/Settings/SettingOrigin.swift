/// The source of a setting's value.
enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case flag
    case environment(String)
    case file(String, line: Int)
    case `default`

    var description: String {
        switch self {
        case .flag: "command line"
        case .environment(let name): name
        case .file(let path, let line): "\(path), line \(line)"
        case .default: "default"
        }
    }
}
