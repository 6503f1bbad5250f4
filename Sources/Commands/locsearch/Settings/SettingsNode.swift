/// A part of a settings file, in a form that is common to YAML and JSON.
indirect enum SettingsNode: Sendable {
    case text(String)
    case list([SettingsNode])
    case mapping([Member])
    /// A name without a value.
    case nothing

    struct Member: Sendable {
        let name: String
        /// The line of the name, starting at 1.
        let line: Int
        let value: SettingsNode
    }
}
