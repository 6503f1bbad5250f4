/// One or several wrong settings, each with a line that names it and states what to do. Ends the process with exit code
/// 78.
struct SettingsError: Error, Hashable, CustomStringConvertible {
    /// One line for each mistake; never empty.
    let mistakes: [String]

    init(_ description: String) { mistakes = [description] }

    /// Combines several errors, so that users see all mistakes at once.
    /// - Parameter errors: at least one.
    init(all errors: [SettingsError]) { mistakes = errors.flatMap(\.mistakes) }

    var description: String { mistakes.joined(separator: "\nlocsearch: ") }
}
