import WorkerRuntime

extension WorkerConfiguration.FairBy {
    /// Parses `none`, `source`, `key` or `header:NAME`; `nil` for any other text.
    init?(text: String) {
        switch text {
        case "none": self = .none
        case "source": self = .source
        case "key": self = .key
        default:
            let prefix = "header:"
            guard text.hasPrefix(prefix), text.count > prefix.count else { return nil }
            self = .header(String(text.dropFirst(prefix.count)))
        }
    }
}
