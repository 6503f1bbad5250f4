extension HTTPRequest {
    /// Host and port, for messages: never the query, which may hold a key.
    var host: String {
        guard let scheme = url.range(ofScheme: "://") else { return "the provider" }
        let rest = url[scheme...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(authority.split(separator: "@").last ?? authority)
    }

    /// - Throws: `invalidRequest` when this cannot be one HTTP request: what a line break could smuggle in is refused.
    func validated() throws(HTTPError) {
        let scheme = url.utf8.prefix(8)
        guard scheme.starts(with: "http://".utf8) || scheme.starts(with: "https://".utf8),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { throw HTTPError(.invalidRequest, "the URL is not http(s), or not percent-encoded") }
        for field in fields {
            let name = field.name.utf8
            guard !name.isEmpty, name.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }),
                field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else { throw HTTPError(.invalidRequest, "a request header holds control characters") }
        }
    }
}

extension String {
    /// Where the text after `separator` begins.
    fileprivate func range(ofScheme separator: String) -> Index? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(separator) { return self.index(index, offsetBy: separator.count) }
            index = self.index(after: index)
            if self[..<index].utf8.count > 8 { return nil }
        }
        return nil
    }
}
