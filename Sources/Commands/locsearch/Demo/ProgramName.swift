import Foundation

/// The command with which the user can run this program again.
enum ProgramName {
    /// The command, for use in the current folder.
    static var own: String {
        typed(as: CommandLine.arguments.first ?? "locsearch", in: FileManager.default.currentDirectoryPath)
    }

    /// Returns the name with which the program was started. A path inside `folder` is made relative to it.
    static func typed(as name: String, in folder: String) -> String {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }
}
