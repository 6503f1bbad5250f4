/// The program's version, which `--version`, the first log line, `/status` and `locsearch_build_info` show.
enum Version {
    /// The only place that holds it; semantic versioning.
    static let current = "0.1.0"
}
