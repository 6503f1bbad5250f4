/// A page with an address. The parts common to all pages are in separate files, which replace the comments with their
/// names: `<!-- head.html -->` and `<!-- header.html -->`.
struct PageView {
    let path: String
    let file: String
    /// The path of the header entry that the page belongs to.
    let entry: String

    static let all = [
        PageView(path: "/", file: "index.html", entry: "/"),
        PageView(path: "/traffic", file: "traffic.html", entry: "/traffic"),
        PageView(path: "/request", file: "request.html", entry: "/request"),
        PageView(path: "/dead-letters", file: "deadletters.html", entry: "/traffic"),
        login,
    ]
    static let login = PageView(path: "/login", file: "login.html", entry: "")

    /// Returns the page as it is served; `nil` if there is no such file.
    /// - Parameter content: returns a file of the page.
    func html(from content: (String) -> [UInt8]?) -> [UInt8]? {
        guard let page = content(file) else { return nil }

        // A link to the page itself is marked differently from a link to its parent page.
        let current = entry == path ? "page" : "true"
        return ["head.html", "header.html"].reduce(page) { page, name in
            let part = String(decoding: content(name) ?? [], as: UTF8.self)
                .replacing(
                    "href=\"\(entry)\" data-text=", with: "href=\"\(entry)\" aria-current=\"\(current)\" data-text=")
            let text = String(decoding: page, as: UTF8.self)
            return Array(text.replacing("  <!-- \(name) -->\n", with: part).utf8)
        }
    }
}
