internal import CCurl

/// The header lines of a transfer's calls, as a list that curl reads; built again only when they change.
///
/// `Accept-Encoding` and `User-Agent` go into that list too: curl formats its own twice, letter by letter (3,500
/// instructions each).
struct RequestHeaders: ~Copyable {
    /// What this libcurl decodes.
    static let encodings = locsearch_has_feature(CURL_VERSION_BROTLI) != 0 ? "gzip, br" : "gzip"

    private(set) var list: UnsafeMutablePointer<curl_slist>?
    private let defaults: [HTTPRequest.Field]
    private var fields: [HTTPRequest.Field] = []
    private var isPost = false

    /// For calls without headers of their own.
    init(userAgent: String) {
        let agent = HTTPRequest.Field(name: "User-Agent", value: userAgent)
        defaults =
            [HTTPRequest.Field(name: "Accept-Encoding", value: Self.encodings)] + (userAgent.isEmpty ? [] : [agent])
        build()
    }

    deinit { curl_slist_free_all(list) }

    /// - Returns: whether `list` is another one now.
    mutating func update(_ fields: [HTTPRequest.Field], isPost: Bool) -> Bool {
        guard self.isPost != isPost || self.fields != fields else { return false }
        (self.fields, self.isPost) = (fields, isPost)
        curl_slist_free_all(list)
        list = nil
        build()
        return true
    }

    private mutating func build() {
        for field in fields { append(field) }
        for field in defaults where !has(field.name) { append(field) }
        if isPost {
            // No waiting for "100 Continue", and no type that the caller did not state.
            list = curl_slist_append(list, "Expect:")
            if !has("Content-Type") { list = curl_slist_append(list, "Content-Type:") }
        }
    }

    private mutating func append(_ field: HTTPRequest.Field) {
        // curl drops a header whose value is blank, unless it ends in a semicolon.
        let isBlank = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
        list = curl_slist_append(list, isBlank ? "\(field.name);" : "\(field.name): \(field.value)")
    }

    private func has(_ name: String) -> Bool {
        fields.contains { $0.name.utf8.elementsEqual(name.utf8) { $0 | 0x20 == $1 | 0x20 } }
    }
}
