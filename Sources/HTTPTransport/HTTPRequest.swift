/// One call to make.
package struct HTTPRequest: Sendable, Hashable {
    package enum Method: Sendable, Hashable {
        case get
        /// With its body.
        case post([UInt8])
    }

    package var method: Method
    /// Absolute `http` or `https`, percent-encoded. May hold an API key: it never reaches an error or a log.
    package var url: String
    /// `Name: value` pairs. A name or value with a line break in it is refused.
    package var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { Field(name: $0.name, value: $0.value) } }
    }

    struct Field: Sendable, Hashable {
        var name: String
        var value: String
    }
    var fields: [Field]

    package init(method: Method = .get, url: String, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.url = url
        fields = headers.map { Field(name: $0.name, value: $0.value) }
    }
}
