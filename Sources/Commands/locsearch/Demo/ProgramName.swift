import Foundation

/// The command by which a person runs this program once more.
enum ProgramName {
    /// The name in this process, for its present folder.
    static var own: String {
        typed(as: CommandLine.arguments.first ?? "locsearch", in: FileManager.default.currentDirectoryPath)
    }

    /// Returns the name by which the program was started; a path below `folder` without what leads to that folder.
    static func typed(as name: String, in folder: String) -> String {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }
}
