/// A page that has an address. What all of them have in common stands in files of its own, which take the place of the comments
/// that name them: `<!-- head.html -->` and `<!-- header.html -->`.
struct PageView {
    let path: String
    let file: String
    /// The entry of the header under which the page is.
    let entry: String

    static let all = [
        PageView(path: "/", file: "index.html", entry: "/"),
        PageView(path: "/traffic", file: "traffic.html", entry: "/traffic"),
        PageView(path: "/request", file: "request.html", entry: "/request"),
        PageView(path: "/dead-letters", file: "deadletters.html", entry: "/traffic"),
        login,
    ]
    static let login = PageView(path: "/login", file: "login.html", entry: "")

    /// Returns the page as it is served; `nil` when there is no such file.
    /// - Parameter content: returns a file of the page.
    func html(from content: (String) -> [UInt8]?) -> [UInt8]? {
        guard let page = content(file) else { return nil }

        // A link to the page itself is marked otherwise than one to the page above it.
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
