public import Foundation

/// The folder that holds the package's sources.
public enum Repository {
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
