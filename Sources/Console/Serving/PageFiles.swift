/// The files of the page, which are part of the program. Each file of the folder `Page` has its line here.
package enum PageFiles {
    static let all: [String: [UInt8]] = [
        "index.html": PackageResources.index_html,
        "traffic.html": PackageResources.traffic_html,
        "login.html": PackageResources.login_html,
    ]

    /// Returns the content of a file; `nil` when there is none of that name.
    package static func content(of name: String) -> [UInt8]? { all[name] }
}
