import Console
import HTTPServing
import LocationSearch

extension Settings {
    /// The default address of a worker's admin endpoints.
    static let defaultWorker = "http://127.0.0.1:8080"

    /// The admin endpoints of the workers that the console shows.
    var consoleWorkers: [String] { Setting.entries(self["console.workers"] ?? Self.defaultWorker) }

    /// Returns the console's token; `nil` if it requires none.
    func consoleToken() throws(SettingsError) -> String? {
        try token("console.token", orFile: "console.tokenFile")
    }

    /// Returns the configuration of the console.
    /// - Throws: `SettingsError` if anyone on the network could use the console, or if the map tiles cannot be shown.
    func console() throws(SettingsError) -> ConsoleConfiguration {
        var console = ConsoleConfiguration()
        console.host = text("console.host")
        console.port = integer("console.port")
        console.token = try consoleToken().map { BearerToken($0) }
        try requireTokenOfConsole(console)
        console.allowedHosts = self["console.allowedHosts"].map { Setting.entries($0) } ?? []

        console.tiles = try tiles()
        console.googleMapsKey = self["console.googleMapsKey"]
        console.traceLink = try traceLink()
        if let start = Coordinate(text: text("console.start")) { console.start = start }
        if let terms: ContentTerms = choice("console.terms") { console.terms = terms }
        console.pictureHosts = PictureHosts(
            console.terms.pictureHosts, insteadOfThem: self["console.pictureBaseURL"])
        return console
    }

    /// Returns the file of a token, if it is stored in one. A new token in the file applies without a restart.
    /// - Parameters:
    ///   - group: `admin` or `console`.
    ///   - current: the token in use; `nil`: none is required.
    ///   - use: applies a new token.
    func tokenFile(
        _ group: String, current: String?, use: @escaping @Sendable (String) -> Void
    ) -> [SecretFiles.Entry] {
        let file = group + ".tokenFile"
        guard self[file] != nil, let current else { return [] }
        return [
            SecretFiles.Entry(
                setting: file, current: current,
                read: { () throws(SettingsError) in try token(group + ".token", orFile: file) }, use: use)
        ]
    }

    private func requireTokenOfConsole(_ console: ConsoleConfiguration) throws(SettingsError) {
        guard console.token == nil, !isLocal("console.host"), !flag("console.allowAnonymous") else { return }
        throw SettingsError(
            "console.host is \"\(console.host)\", so other machines can reach the console: set console.token or "
                + "console.tokenFile, or console.allowAnonymous=true if access is restricted elsewhere")
    }

    /// Returns the link template for traces; `nil` if none is set.
    func traceLink() throws(SettingsError) -> TraceLink? {
        guard let template = self["tracing.uiURL"] else { return nil }
        guard let link = TraceLink(template) else {
            throw SettingsError(
                "tracing.uiURL: expected an http or https URL with {traceId}, without user or password, such as "
                    + "https://jaeger.example/trace/{traceId}")
        }
        return link
    }

    private func tiles() throws(SettingsError) -> ConsoleConfiguration.Tiles? {
        guard let url = self["console.tileURL"] else { return nil }

        let isWeb = url.hasPrefix("https://") || url.hasPrefix("http://")
        let isPlain = url.allSatisfy { $0.isASCII && !$0.isWhitespace && !";,'\"".contains($0) }
        guard isWeb, isPlain, ["{z}", "{x}", "{y}"].allSatisfy(url.contains) else {
            throw SettingsError(
                "console.tileURL is \"\(url)\": expected an http or https URL with {z}, {x} and {y}, such as "
                    + "https://tiles.example/{z}/{x}/{y}.png")
        }
        guard let attribution = self["console.tileAttribution"] else {
            throw SettingsError(
                "console.tileAttribution is not set: the map must show the attribution that its tiles require")
        }
        return ConsoleConfiguration.Tiles(url: url, attribution: attribution)
    }
}
