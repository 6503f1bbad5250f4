/// One call to make.
public struct HTTPRequest: Sendable, Hashable {
    /// The methods that providers need.
    public enum Method: Sendable, Hashable {
        /// `GET`, without a body.
        case get
        /// `POST` with this body.
        case post([UInt8])
    }

    /// The method, with its body.
    public var method: Method
    /// An absolute `http` or `https` URL, percent-encoded. It may hold an API key and therefore never reaches an error or
    /// a log.
    public var url: String
    /// Names and values of the header lines. A name or value with a line break in it is refused.
    public var headers: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set { fields = newValue.map { Field(name: $0.name, value: $0.value) } }
    }

    struct Field: Sendable, Hashable {
        var name: String
        var value: String
    }
    var fields: [Field]

    /// Makes a call that is checked when it is sent.
    public init(method: Method = .get, url: String, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.url = url
        fields = headers.map { Field(name: $0.name, value: $0.value) }
    }
}
