import ArgumentParser

/// A time as the value of an option, written as settings have it: `250ms`, `5s`, `2m`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.text }
}
