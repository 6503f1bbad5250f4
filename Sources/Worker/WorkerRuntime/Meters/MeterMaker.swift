internal import Basics
internal import Metrics

/// Makes the handles of metrics, one for each value of a label.
struct MeterMaker {
    let factory: any MetricsFactory

    func counter(_ name: String, labels: [(String, String)] = []) -> Counter {
        Counter(label: name, dimensions: labels, factory: factory)
    }

    func meter(_ name: String) -> Meter { Meter(label: name, factory: factory) }

    func timer(_ name: String, labels: [(String, String)] = []) -> Timer {
        Timer(label: name, dimensions: labels, factory: factory)
    }

    /// Returns what `make` makes of the text of each value.
    func each<Key: Equatable & RawRepresentable<String> & CaseIterable, Value>(
        _ keys: Key.Type, _ make: (String) -> Value
    ) -> CaseTable<Key, Value> {
        CaseTable { make($0.rawValue) }
    }
}

extension Timer {
    /// A record's timestamp is whatever its producer wrote. One from 1970 would hide all others in the sum.
    private static let longest = Duration.seconds(30 * 86_400)

    /// Records a time of 0 to 30 days; what is outside counts as the nearest of the two.
    func record(wait: Duration) {
        recordNanoseconds(min(max(wait, .zero), Self.longest).wholeNanoseconds)
    }
}
