internal import CCurl

/// The headers of a transfer's calls, as a list that curl reads. The list is rebuilt only when they change.
///
/// `User-Agent` is also in that list, because curl would format its own twice, letter by letter, which takes 3,500
/// instructions. `Accept-Encoding` is included because `Transfer` decodes bodies, not curl.
struct RequestHeaders: ~Copyable {
    /// The list for `CURLOPT_HTTPHEADER`. `update` replaces it, and it is freed with this value.
    private(set) var list: UnsafeMutablePointer<curl_slist>?
    private let defaults: [HTTPRequest.Field]
    private var fields: [HTTPRequest.Field] = []
    private var isPost = false

    /// Makes the list for calls without additional headers.
    init(userAgent: String) {
        let agent = HTTPRequest.Field(name: "User-Agent", value: userAgent)
        defaults =
            [HTTPRequest.Field(name: "Accept-Encoding", value: "gzip")] + (userAgent.isEmpty ? [] : [agent])
        build()
    }

    deinit { curl_slist_free_all(list) }

    /// Makes the list for a call.
    /// - Returns: `true` if `list` was replaced and must be passed to curl again.
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
            // An empty value stops curl from waiting for "100 Continue" and from adding a default type.
            list = curl_slist_append(list, "Expect:")
            if !has("Content-Type") { list = curl_slist_append(list, "Content-Type:") }
        }
    }

    private mutating func append(_ field: HTTPRequest.Field) {
        // curl drops a header with a blank value, unless its name ends with a semicolon.
        let isBlank = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
        list = curl_slist_append(list, isBlank ? "\(field.name);" : "\(field.name): \(field.value)")
    }

    private func has(_ name: String) -> Bool {
        fields.contains { $0.name.utf8.elementsEqual(name.utf8) { $0 | 0x20 == $1 | 0x20 } }
    }
}
