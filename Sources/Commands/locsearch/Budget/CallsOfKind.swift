import JSON

/// The number of calls of one kind. A kind is an operation in one price class.
struct CallsOfKind: Sendable, Hashable {
    /// The kind as written in the fleet topic: `operation/price class`.
    let kind: String
    let operation: String
    /// `nil` if the kind has no price class.
    let priceClass: String?
    let count: Int

    private init(_ kind: String, count: Int) {
        let parts = kind.split(separator: "/", maxSplits: 1).map(String.init)
        self.kind = kind
        operation = parts.first ?? ""
        priceClass = parts.count > 1 ? parts[1] : nil
        self.count = count
    }

    static func inOrder(_ made: [String: Int]) -> [CallsOfKind] {
        made.map { CallsOfKind($0.key, count: $0.value) }.sorted { $0.kind < $1.kind }
    }

    static func mostFirst(_ made: [String: Int]) -> [CallsOfKind] {
        made.map { CallsOfKind($0.key, count: $0.value) }.sorted { ($1.count, $0.kind) < ($0.count, $1.kind) }
    }
}

extension JSONWriter {
    /// Writes a member with one object for each kind, sorted by kind.
    mutating func member(_ name: StaticString, calls made: [String: Int]) {
        objects(name, of: CallsOfKind.inOrder(made)) { calls, json in
            json.member("operation", calls.operation)
            json.member("sku", calls.priceClass)
            json.member("calls", calls.count)
        }
    }
}
