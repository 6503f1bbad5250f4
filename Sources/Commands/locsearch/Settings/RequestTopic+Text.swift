import Basics
import WorkerRuntime

/// The text form of `topics.requests`: comma-separated entries such as `name`, `name:batch` or
/// `name:interactive+batch`.
extension RequestTopic {
    /// A mistake in the text of `topics.requests`, worded for the end of an error message.
    struct Fault: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    /// Parses all entries in order.
    /// - Throws: `Fault` that describes the first mistake.
    static func list(_ text: String) throws(Fault) -> [RequestTopic] {
        var topics: [RequestTopic] = []
        for entry in Setting.entries(text) {
            let topic = try RequestTopic(text: entry)
            guard !topics.contains(where: { $0.name == topic.name }) else {
                throw Fault(description: "\"\(topic.name)\" is listed twice")
            }
            topics.append(topic)
        }
        return topics
    }

    /// Parses one entry.
    init(text: String) throws(Fault) {
        // Topic names contain no colon.
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard Setting.isTopic(parts[0]) else {
            throw Fault(description: parts[0].isEmpty ? "an entry has no name" : "\"\(parts[0])\" is not a topic name")
        }
        guard parts.count > 1 else {
            self.init(parts[0])
            return
        }

        var classes: [RequestClass] = []
        for word in parts[1].split(separator: "+", omittingEmptySubsequences: false) {
            guard let requestClass = RequestClass(rawValue: String(word)) else {
                throw Fault(
                    description:
                        "\"\(word)\" is not a request class: the classes are \(RequestClass.names(and: " and "))")
            }
            guard !classes.contains(requestClass) else {
                throw Fault(description: "\"\(parts[0])\" has the class \(word) twice")
            }
            classes.append(requestClass)
        }
        self.init(parts[0], classes: classes)
    }

    /// The classes, the standard one first.
    var orderedClasses: [RequestClass] {
        [standardClass] + RequestClass.allCases.filter { $0 != standardClass && classes.contains($0) }
    }

    /// The classes in the notation of the setting: `interactive+batch`.
    var classText: String { orderedClasses.map(\.rawValue).joined(separator: "+") }
}

extension RequestClass {
    fileprivate static func names(and word: String) -> String { allCases.map(\.rawValue).joined(separator: word) }
}

extension [RequestTopic] {
    /// The topic names, separated by commas.
    var names: String { map(\.name).joined(separator: ", ") }
}
