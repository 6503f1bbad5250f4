public import Basics

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

public struct HTTPResponse: Sendable, Hashable {
    /// The decompressed body (gzip), within the size limit.
    public var body: [UInt8]
    public var status: Int
    /// The `Location` header. Redirects are never followed.
    public var location: String?
    /// The `Retry-After` header as received: seconds or an HTTP date.
    public var retryAfter: String?
    /// The wall-clock time at which a response with `Retry-After` was read; `nil` for one without.
    public var readAt: WallTime?
    /// The `Content-Type` header as received.
    public var contentType: String?
    /// The `Date` header as received, if `HTTPConfiguration.keepsDate` is set.
    public var date: String?
}

extension HTTPResponse {
    // In an extension, because Swift 6.3 copies the whole value in an explicit initializer of the declaration.
    /// Makes a response, for the transport and its fakes.
    public init(
        status: Int, body: [UInt8] = [], location: String? = nil, retryAfter: String? = nil,
        readAt: WallTime? = nil, contentType: String? = nil, date: String? = nil
    ) {
        self.init(
            body: body, status: status, location: location, retryAfter: retryAfter, readAt: readAt,
            contentType: contentType, date: date)
    }
}

extension HTTPRequest {
    /// Host and port, for messages. Excludes the path and the query, which may contain a key, and any text before an
    /// `@`.
    var host: String {
        let bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return "the provider"
        }

        let authority = bytes[(colon + 3)...].prefix { !"/?#\\".utf8.contains($0) }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return host.isEmpty ? "the provider" : String(decoding: host, as: UTF8.self)
    }

    var isSecure: Bool { url.prefix(6).lowercased() == "https:" }

    /// Checks that this is exactly one HTTP request, so that a line break cannot inject another one.
    /// - Throws: `invalidRequest`.
    func validated() throws(HTTPError) {
        guard hasWebScheme, hasOnlyVisibleASCII(url) else {
            throw HTTPError(.invalidRequest, "the URL is not http(s), or is not percent-encoded")
        }

        for field in fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenByte) else {
                throw HTTPError(.invalidRequest, "the name of a request header is empty or holds a forbidden character")
            }
            // A tab is the only control character allowed in a value (RFC 9110, 5.5).
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw HTTPError(
                    .invalidRequest, "the value of the request header \(field.name) holds a control character")
            }
        }
    }

    /// True if the text has no space, no control character and no byte outside ASCII. Checks eight bytes at a time.
    private func hasOnlyVisibleASCII(_ text: String) -> Bool {
        let bytes = text.utf8.span.bytes
        var index = 0
        while index + 8 <= bytes.byteCount {
            // Safe: any eight bytes are a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            // Each sets the highest bit of a byte that is too large (0x7f and more) or too small (0x20 and less). The
            // carry may also set it in the following byte, which changes nothing.
            let large = word | word &+ 0x0101_0101_0101_0101
            let small = word &- 0x2121_2121_2121_2121
            if (large | small) & 0x8080_8080_8080_8080 != 0 { return false }
            index += 8
        }
        while index < bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if byte <= 0x20 || byte >= 0x7f { return false }
            index += 1
        }
        return true
    }

    /// True for a URL that begins with `http://` or `https://`, in any case, and a host. curl would guess missing
    /// parts.
    private var hasWebScheme: Bool {
        let bytes = url.utf8.span
        func starts(with scheme: StaticString) -> Bool {
            let length = scheme.utf8CodeUnitCount
            guard bytes.count > length else { return false }
            let isScheme = scheme.withUTF8Buffer { scheme in
                // Bit 0x20 makes an ASCII letter lower case.
                scheme.indices.allSatisfy { bytes[$0] | 0x20 == scheme[$0] | 0x20 }
            }
            return isScheme && !"/?#\\".utf8.contains(bytes[length])
        }
        return starts(with: "http://") || starts(with: "https://")
    }

    /// True for a byte that is allowed in a header's name (RFC 9110, 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
