/// The content of a settings file or of one of its names: the common form of YAML and JSON.
indirect enum SettingsNode: Sendable {
    case text(String)
    case list([SettingsNode])
    case mapping([Member])
    /// A name without a value.
    case nothing

    struct Member: Sendable {
        let name: String
        /// The line of the name, from 1.
        let line: Int
        let value: SettingsNode
    }
}
