/// A wrong setting, as one line that names it and says what to do. Several that are wrong have a line each. Ends the
/// process with exit code 78.
struct SettingsError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Puts several wrong settings together, so that nobody has to start the program once for each.
    /// - Parameter errors: at least one.
    init(all errors: [SettingsError]) {
        description = errors.map(\.description).joined(separator: "\nlocsearch: ")
    }
}
