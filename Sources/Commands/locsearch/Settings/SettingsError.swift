/// A wrong setting, as one line that names it and says what to do. Several that are wrong have a line each. Ends the
/// process with exit code 78.
struct SettingsError: Error, Hashable, CustomStringConvertible {
    /// A line for each mistake, at least one.
    let mistakes: [String]

    init(_ description: String) { mistakes = [description] }

    /// Puts several wrong settings together, so that nobody has to start the program once for each.
    /// - Parameter errors: at least one.
    init(all errors: [SettingsError]) { mistakes = errors.flatMap(\.mistakes) }

    var description: String { mistakes.joined(separator: "\nlocsearch: ") }
}
