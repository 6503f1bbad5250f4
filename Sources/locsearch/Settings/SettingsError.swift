/// A wrong setting, as one line that names it and says what to do. Ends the process with exit code 78.
struct SettingsError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
