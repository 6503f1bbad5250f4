/// One call to make.
public struct HTTPRequest: Sendable, Hashable {
    public enum Method: Sendable, Hashable {
        case get
        /// With its body.
        case post([UInt8])
    }

    public var method: Method
    /// Absolute `http` or `https`, percent-encoded. May hold an API key: it never reaches an error or a log.
    public var url: String
    /// `Name: value` pairs. A name or value with a line break in it is refused.
    public var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { Field(name: $0.name, value: $0.value) } }
    }

    struct Field: Sendable, Hashable {
        var name: String
        var value: String
    }
    var fields: [Field]

    public init(method: Method = .get, url: String, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.url = url
        fields = headers.map { Field(name: $0.name, value: $0.value) }
    }
}
