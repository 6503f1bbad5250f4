/// One HTTP call.
public struct HTTPRequest: Sendable, Hashable {
    /// The methods that providers need.
    public enum Method: Sendable, Hashable {
        /// `GET`, without a body.
        case get
        /// `POST` with this body.
        case post([UInt8])
    }

    public var method: Method
    /// An absolute `http` or `https` URL, percent-encoded. It may contain an API key, and therefore never appears in an
    /// error or a log.
    public var url: String
    /// The names and values of the headers. A name or value with a line break is rejected.
    public var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { Field(name: $0.name, value: $0.value) } }
    }

    struct Field: Sendable, Hashable {
        var name: String
        var value: String
    }
    var fields: [Field]

    /// Makes a request. It is validated when it is sent.
    public init(method: Method = .get, url: String, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.url = url
        fields = headers.map { Field(name: $0.name, value: $0.value) }
    }
}
