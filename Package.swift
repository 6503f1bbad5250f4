// swift-tools-version: 6.2
import PackageDescription

// CI builds with LOCSEARCH_WARNINGS_AS_ERRORS=1, so that a newer compiler's new warning never breaks a user's build.
let strict = Context.environment["LOCSEARCH_WARNINGS_AS_ERRORS"] == "1"

let common: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatWarning("StrictLanguageFeatures", as: .error),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

/// All but the two bindings: the compiler flags unsafe code that is not marked as such.
let safe = common + [.strictMemorySafety()]
/// Views of bytes that must not outlive them (`~Escapable`) need lifetime annotations.
let spans = safe + [.enableExperimentalFeature("Lifetimes")]

func product(_ name: String, _ package: String) -> Target.Dependency { .product(name: name, package: package) }
let logging = product("Logging", "swift-log")
let metrics = product("Metrics", "swift-metrics")
let tracing = product("Tracing", "swift-distributed-tracing")

/// What the packages below depend on, at one version each too, so that two builds of one commit are of the same sources.
/// `make raise-dependencies` raises these and those below: see docs/internals/decisions/0008-pinned-dependencies.md.
let transitive: [(product: String, url: String, version: Version)] = [
    ("Algorithms", "https://github.com/apple/swift-algorithms.git", "1.2.1"),
    ("Atomics", "https://github.com/apple/swift-atomics.git", "1.3.0"),
    ("AsyncHTTPClient", "https://github.com/swift-server/async-http-client.git", "1.37.0"),
    ("Configuration", "https://github.com/apple/swift-configuration.git", "1.4.0"),
    ("Crypto", "https://github.com/apple/swift-crypto.git", "4.5.2"),
    ("HTTPTypes", "https://github.com/apple/swift-http-types.git", "1.8.0"),
    ("NIOExtras", "https://github.com/apple/swift-nio-extras.git", "1.35.2"),
    ("NIOHTTP2", "https://github.com/apple/swift-nio-http2.git", "1.46.0"),
    ("NIOSSL", "https://github.com/apple/swift-nio-ssl.git", "2.37.6"),
    ("NIOTransportServices", "https://github.com/apple/swift-nio-transport-services.git", "1.28.0"),
    ("Numerics", "https://github.com/apple/swift-numerics.git", "1.1.1"),
    ("ServiceContextModule", "https://github.com/apple/swift-service-context.git", "1.5.1"),
    ("StructuredFieldValues", "https://github.com/apple/swift-http-structured-headers.git", "1.7.0"),
    ("SwiftASN1", "https://github.com/apple/swift-asn1.git", "1.7.4"),
    ("SystemPackage", "https://github.com/apple/swift-system.git", "1.8.1"),
    ("X509", "https://github.com/apple/swift-certificates.git", "1.21.1"),
]
/// Has SwiftPM take them for used, on a platform that there is not: it warns of packages that no target names.
let pins: [Target.Dependency] = transitive.map { pin in
    let package = pin.url.split(separator: "/").last?.split(separator: ".").first ?? ""
    return .product(name: pin.product, package: String(package), condition: .when(platforms: [.custom("none")]))
}

let package = Package(
    name: "location-search-worker",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "locsearch", targets: ["locsearch"]),
        .library(name: "EventContract", targets: ["EventContract", "LocationSearch"]),
        .library(name: "SessionState", targets: ["SessionState"]),
        // For Swift services that have no client for Kafka yet: see Examples/swift.
        .library(name: "Kafka", targets: ["Kafka", "EventLoop", "Basics"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ] + transitive.map { .package(url: $0.url, exact: $0.version) },
    targets: [
        .systemLibrary(
            name: "CRdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev", "zlib1g-dev"]), .brew(["curl"])]),
        .systemLibrary(name: "CMimalloc", providers: [.apt(["libmimalloc-dev"]), .brew(["mimalloc"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CCrash"),
        .target(name: "CScan"),

        .target(name: "LibC", swiftSettings: safe),
        .target(name: "Basics", dependencies: ["LibC"], swiftSettings: safe),
        .target(
            name: "EventLoop", dependencies: ["Basics", "CLinux", "LibC", product("HeapModule", "swift-collections")],
            swiftSettings: safe),
        .target(name: "JSON", dependencies: ["CScan"], swiftSettings: spans),
        .target(
            name: "Kafka",
            dependencies: [
                "Basics", "CCrash", "CRdkafka", "EventLoop", "JSON", "LibC", logging,
                product("DequeModule", "swift-collections"),
            ], swiftSettings: common),
        .target(name: "HTTPTransport", dependencies: ["Basics", "CCurl", "EventLoop", "LibC"], swiftSettings: common),
        .target(
            name: "Resilience", dependencies: ["Basics", product("DequeModule", "swift-collections")],
            swiftSettings: safe),
        .target(name: "LocationSearch", dependencies: ["Basics", "LibC", tracing], swiftSettings: spans),
        .target(
            name: "QuotaSharing",
            dependencies: [
                "Basics", "JSON", "LocationSearch", logging,
                product("DequeModule", "swift-collections"),
            ], swiftSettings: spans),
        .target(
            name: "ProviderCalls",
            dependencies: ["Basics", "LocationSearch", "QuotaSharing", "Resilience", tracing], swiftSettings: spans),
        .target(
            name: "PlaceProviders",
            dependencies: [
                "Basics", "LocationSearch", "HTTPTransport", "JSON", "CScan", "LibC", tracing,
            ],
            swiftSettings: spans),
        .target(name: "EventContract", dependencies: ["Basics", "LocationSearch", "JSON"], swiftSettings: spans),
        .target(
            name: "SessionState", dependencies: ["Basics", "EventContract", "LocationSearch"], swiftSettings: safe),
        .target(
            name: "Observability",
            dependencies: ["Basics", "JSON", "LibC", logging, product("CoreMetrics", "swift-metrics")],
            swiftSettings: safe
        ),
        .target(
            name: "TraceExport",
            dependencies: [
                "Basics", "EventLoop", "HTTPTransport", "Observability", logging, metrics, tracing,
                product("DequeModule", "swift-collections"),
            ], swiftSettings: safe),
        .target(
            name: "WorkerRuntime",
            dependencies: [
                "Basics", "EventLoop", "Kafka", "LocationSearch", "EventContract", "ProviderCalls", "QuotaSharing",
                "Resilience", logging, metrics, tracing, product("DequeModule", "swift-collections"),
            ], swiftSettings: safe),
        .target(
            name: "HTTPServing",
            dependencies: [
                "Basics", "LibC", product("HummingbirdCore", "hummingbird"),
                product("NIOCore", "swift-nio"), product("NIOHTTP1", "swift-nio"), product("NIOPosix", "swift-nio"),
                product("ServiceLifecycle", "swift-service-lifecycle"), logging,
            ], swiftSettings: safe),
        .target(name: "CPage"),
        .target(
            name: "Console",
            dependencies: [
                "Basics", "CPage", "EventContract", "HTTPServing", "JSON", "LocationSearch", "SessionState",
                product("HummingbirdCore", "hummingbird"), product("NIOCore", "swift-nio"),
                product("ServiceLifecycle", "swift-service-lifecycle"),
                product("AsyncAlgorithms", "swift-async-algorithms"), product("DequeModule", "swift-collections"),
                logging,
            ], exclude: ["Page"], swiftSettings: spans),
        .target(
            name: "ProviderSimulator",
            dependencies: [
                "Basics", "JSON", "LibC", product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"),
                product("NIOHTTP1", "swift-nio"),
            ], swiftSettings: spans),
        .executableTarget(
            name: "locsearch",
            dependencies: [
                "Basics", "Console", "EventContract", "EventLoop", "HTTPServing", "HTTPTransport", "JSON", "Kafka",
                "LocationSearch", "Observability", "PlaceProviders", "ProviderCalls", "ProviderSimulator",
                "QuotaSharing", "Resilience", "SessionState", "TraceExport", "WorkerRuntime", "CLinux", "CMimalloc",
                product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"),
                "LibC", logging, metrics,
                product("ArgumentParser", "swift-argument-parser"),
                product("Yams", "Yams"), product("ServiceLifecycle", "swift-service-lifecycle"),
                product("UnixSignals", "swift-service-lifecycle"),
            ] + pins, swiftSettings: safe),

        // Event loops under virtual time: see docs/internals/concurrency.md, 8. No part of locsearch.
        .target(name: "CTaskHooks", path: "Simulation/CTaskHooks"),
        .target(
            name: "SimulatedLoop",
            dependencies: ["Basics", "CTaskHooks", "EventLoop"], path: "Simulation/SimulatedLoop", swiftSettings: safe),
        // A whole fleet under virtual time: see docs/internals/simulation.md.
        .target(
            name: "FleetSimulation",
            dependencies: [
                "Basics", "EventContract", "EventLoop", "Kafka", "LocationSearch", "Observability", "ProviderCalls",
                "QuotaSharing", "Resilience", "SimulatedKafka", "SimulatedKafkaClients", "SimulatedLoop",
                "WorkerRuntime", logging,
            ], path: "Simulation/FleetSimulation", swiftSettings: safe),
        .executableTarget(
            name: "Simulate",
            dependencies: [
                "Basics", "CMimalloc", "FleetSimulation", product("ArgumentParser", "swift-argument-parser"),
            ],
            path: "Simulation/Simulate", swiftSettings: safe),

        // Jobs whose instructions are counted: see docs/internals/performance.md.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Basics", "CMimalloc", "EventContract", "EventLoop", "HTTPTransport", "Kafka", "LocationSearch",
                "Observability", "PlaceProviders", "ProviderCalls", "Resilience", "WorkerRuntime", logging,
            ], path: "Benchmarks", exclude: ["figures.txt"], swiftSettings: safe),

        // A model of Kafka for simulations, see docs/internals/simulation.md: the brokers, without any dependency, and librdkafka's side.
        .target(name: "SimulatedKafka", path: "Simulation/SimulatedKafka", swiftSettings: safe),
        .target(
            name: "SimulatedKafkaClients", dependencies: ["Kafka", "SimulatedKafka"],
            path: "Simulation/SimulatedKafkaClients", swiftSettings: safe),

        // What several suites share: a clock driven by hand, waiting for a condition with a bound, a raw TCP server, the
        // broker that a test runs on.
        .target(
            name: "TestSupport",
            dependencies: [
                "Basics", "LocationSearch", "ProviderCalls", "QuotaSharing", product("HeapModule", "swift-collections"),
            ],
            path: "Tests/TestSupport", swiftSettings: safe),
        .target(
            name: "KafkaTestSupport", dependencies: ["CRdkafka", "Kafka", "TestSupport"],
            path: "Tests/KafkaTestSupport", swiftSettings: safe),
        .testTarget(name: "BasicsTests", dependencies: ["Basics"], swiftSettings: safe),
        .testTarget(name: "EventLoopTests", dependencies: ["Basics", "EventLoop", "TestSupport"], swiftSettings: safe),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"], swiftSettings: spans),
        .testTarget(
            name: "KafkaTests",
            dependencies: [
                "Basics", "CRdkafka", "Kafka", "KafkaTestSupport", "TestSupport",
                product("InMemoryLogging", "swift-log"),
            ],
            swiftSettings: safe),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["Basics", "HTTPTransport", "TestSupport"], swiftSettings: safe),
        .testTarget(
            name: "ResilienceTests", dependencies: ["Basics", "Resilience", "TestSupport"], swiftSettings: safe),
        .testTarget(
            name: "FleetSimulationTests", dependencies: ["FleetSimulation", "WorkerRuntime"], swiftSettings: safe),
        .testTarget(name: "SimulateTests", dependencies: ["Simulate"], swiftSettings: safe),
        .testTarget(
            name: "SimulatedLoopTests",
            dependencies: [
                "Basics", "EventContract", "EventLoop", "Kafka", "LocationSearch", "Observability", "ProviderCalls",
                "QuotaSharing", "Resilience", "SimulatedLoop", "WorkerRuntime", logging,
            ],
            swiftSettings: safe),
        .testTarget(
            name: "QuotaSharingTests", dependencies: ["Basics", "Kafka", "QuotaSharing", "Resilience", "TestSupport"],
            swiftSettings: safe),
        .testTarget(
            name: "LocationSearchTests", dependencies: ["Basics", "LocationSearch", "TestSupport"],
            swiftSettings: safe),
        .testTarget(
            name: "ProviderCallsTests",
            dependencies: [
                "Basics", "LocationSearch", "ProviderCalls", "QuotaSharing", "Resilience", "TraceExport", "TestSupport",
                tracing,
            ],
            swiftSettings: safe),
        .testTarget(
            name: "PlaceProvidersTests",
            dependencies: [
                "Basics", "EventContract", "HTTPTransport", "JSON", "PlaceProviders", "ProviderCalls", "TraceExport",
                "TestSupport", tracing,
            ],
            resources: [.copy("Fixtures")], swiftSettings: safe),
        .testTarget(
            name: "EventContractTests", dependencies: ["EventContract", "ProviderCalls", "TestSupport"],
            swiftSettings: spans),
        .testTarget(
            name: "SessionStateTests",
            dependencies: ["EventContract", "LocationSearch", "SessionState", "TestSupport"], swiftSettings: safe),
        .testTarget(
            name: "ProviderSimulatorTests",
            dependencies: ["Basics", "ProviderSimulator", "TestSupport", product("NIOCore", "swift-nio")],
            swiftSettings: safe),
        .testTarget(
            name: "ObservabilityTests", dependencies: ["Basics", "Observability", "TestSupport"], swiftSettings: safe),
        .testTarget(
            name: "TraceExportTests",
            dependencies: [
                "Basics", "EventLoop", "HTTPTransport", "Observability", "TraceExport", "TestSupport", metrics, tracing,
                product("InMemoryLogging", "swift-log"),
            ], swiftSettings: safe),
        .testTarget(
            name: "WorkerRuntimeTests",
            dependencies: [
                "Basics", "Observability", "ProviderCalls", "QuotaSharing", "TraceExport", "WorkerRuntime",
                "KafkaTestSupport", "TestSupport", tracing,
            ],
            swiftSettings: safe),
        .testTarget(
            name: "HTTPServingTests",
            dependencies: ["Basics", "HTTPServing", "TestSupport", product("HummingbirdCore", "hummingbird"), logging],
            swiftSettings: safe),
        .testTarget(
            name: "ConsoleTests", dependencies: ["Console", "HTTPServing", "JSON", "SessionState", "TestSupport"],
            swiftSettings: safe),
        .testTarget(
            name: "LocsearchTests",
            dependencies: [
                "Basics", "Console", "JSON", "LocationSearch", "ProviderCalls", "QuotaSharing", "Resilience",
                "locsearch", "KafkaTestSupport", "TestSupport", "TraceExport",
            ], swiftSettings: safe),
        .testTarget(
            name: "SimulatedKafkaTests",
            dependencies: [
                "Basics", "Kafka", "SimulatedKafka", "SimulatedKafkaClients", "KafkaTestSupport", "TestSupport",
            ],
            swiftSettings: safe),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Basics", "Kafka", "HTTPTransport", "Observability", "WorkerRuntime", "ProviderCalls",
                "ProviderSimulator", "PlaceProviders", "QuotaSharing", "KafkaTestSupport", "TestSupport",
            ],
            swiftSettings: safe),
    ],
    swiftLanguageModes: [.v6]
)

/// The layers of `Sources`, from the lowest to the highest, and of `Tests`: a module imports those of its own layer and of lower ones.
/// Each layer has a README.
let layers: KeyValuePairs = [
    "Platform": [
        "Basics", "CCrash", "CCurl", "CLinux", "CMimalloc", "CRdkafka", "CScan", "EventLoop",
        "HTTPTransport", "JSON", "Kafka", "LibC",
    ],
    "Domain": ["EventContract", "LocationSearch", "PlaceProviders"],
    "Fleet": ["QuotaSharing"],
    "Calls": ["ProviderCalls", "Resilience"],
    "Worker": ["Observability", "TraceExport", "WorkerRuntime"],
    "Console": ["CPage", "Console", "HTTPServing", "SessionState"],
    "Simulator": ["ProviderSimulator"],
    "Commands": ["locsearch", "LocsearchTests"],
    "Simulation": ["FleetSimulationTests", "SimulateTests", "SimulatedKafkaTests", "SimulatedLoopTests"],
]

/// The place of a module's layer among them; that of a target outside `Sources` is above all.
func height(of module: String) -> Int { layers.firstIndex { $1.contains(module) } ?? layers.count }

for target in package.targets where !target.isTest {
    for case .byNameItem(let name, _) in target.dependencies where height(of: name) > height(of: target.name) {
        fatalError("\(target.name) may not depend on \(name), which is in a higher layer")
    }
}
for target in package.targets where target.path == nil {
    let (folder, module) = target.isTest ? ("Tests", String(target.name.dropLast(5))) : ("Sources", target.name)
    for (layer, modules) in layers where modules.contains(module) || modules.contains(target.name) {
        target.path = "\(folder)/\(layer)/\(target.name)"
    }
}

// A package that uses the libraries gets ranges in place of the exact versions, so that it can choose a version that its
// other dependencies accept too. SwiftPM then has this file in a folder of checkouts.
if Context.packageDirectory.contains("/checkouts/") {
    package.dependencies = package.dependencies.map { dependency in
        guard case .sourceControl(_, let url, .exact(let version)) = dependency.kind else { return dependency }
        return .package(url: url, from: version, traits: dependency.traits)
    }
}
