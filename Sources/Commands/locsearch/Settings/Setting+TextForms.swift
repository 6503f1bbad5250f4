import EventContract
import Kafka
import LocationSearch
import WorkerRuntime

extension Coordinate {
    /// Parses `latitude,longitude` in decimal degrees; `nil` if the text is not a valid position.
    init?(text: String) {
        let numbers = Setting.entries(text).map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else { return nil }

        self.init(latitude: latitude, longitude: longitude)
        guard isValid else { return nil }
    }
}

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
