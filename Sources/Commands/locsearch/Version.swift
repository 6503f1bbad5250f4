/// The program's version, shown by `--version`, the first log line, `/status` and `locsearch_build_info`.
enum Version {
    /// The only definition of the version, which follows semantic versioning.
    static let current = "0.1.0"
}
