// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "search-client",
    platforms: [.macOS(.v26)],
    dependencies: [
        // In a repository of your own: .package(url: "https://…/location-search-worker", from: "…")
        .package(name: "location-search-worker", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        .executableTarget(
            name: "SearchClient",
            dependencies: [
                .product(name: "EventContract", package: "location-search-worker"),
                .product(name: "Kafka", package: "location-search-worker"),
                .product(name: "SessionState", package: "location-search-worker"),
                .product(name: "Logging", package: "swift-log"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
