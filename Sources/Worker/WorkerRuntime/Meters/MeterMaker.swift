internal import Basics
internal import Metrics

/// Makes metric handles, one for each value of a label.
struct MeterMaker {
    let factory: any MetricsFactory

    func counter(_ name: String, labels: [(String, String)] = []) -> Counter {
        Counter(label: name, dimensions: labels, factory: factory)
    }

    func meter(_ name: String) -> Meter { Meter(label: name, factory: factory) }

    func timer(_ name: String, labels: [(String, String)] = []) -> Timer {
        Timer(label: name, dimensions: labels, factory: factory)
    }

    /// Makes a table with the result of `make` for each raw value.
    func each<Key: Equatable & RawRepresentable<String> & CaseIterable, Value>(
        _ keys: Key.Type, _ make: (String) -> Value
    ) -> CaseTable<Key, Value> {
        CaseTable { make($0.rawValue) }
    }
}

extension Timer {
    /// The longest recorded time. A record's timestamp is written by its producer, and one from 1970 would dominate the
    /// sum.
    private static let longest = Duration.seconds(30 * 86_400)

    /// Records a time, clamped to 0 to 30 days.
    func record(wait: Duration) {
        recordNanoseconds(min(max(wait, .zero), Self.longest).wholeNanoseconds)
    }
}
