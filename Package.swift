// swift-tools-version: 6.2
import PackageDescription

// CI builds with LOCSEARCH_WARNINGS_AS_ERRORS=1, so that a newer compiler's new warning never breaks a user's build.
let strict = Context.environment["LOCSEARCH_WARNINGS_AS_ERRORS"] == "1"
/// With LOCSEARCH_DEFECTS=1, known mistakes can be put back into the worker: see docs/simulation.md.
let hasDefects = Context.environment["LOCSEARCH_DEFECTS"] == "1"

let common: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatWarning("StrictLanguageFeatures", as: .error),
    ] + (strict ? [.treatAllWarnings(as: .error)] : []) + (hasDefects ? [.define("DEFECTS")] : [])

/// All but the two bindings: the compiler flags unsafe code that is not marked as such.
let safe = common + [.strictMemorySafety()]
/// Views of bytes that must not outlive them (`~Escapable`) need lifetime annotations.
let spans = safe + [.enableExperimentalFeature("Lifetimes")]

func product(_ name: String, _ package: String) -> Target.Dependency { .product(name: name, package: package) }
let logging = product("Logging", "swift-log")
let metrics = product("Metrics", "swift-metrics")
let tracing = product("Tracing", "swift-distributed-tracing")

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
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CRdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(name: "CMimalloc", providers: [.apt(["libmimalloc-dev"]), .brew(["mimalloc"])]),
        .systemLibrary(name: "CLinux"),
        .target(name: "CScan"),

        .target(name: "Basics", swiftSettings: safe),
        .target(
            name: "EventLoop", dependencies: ["Basics", "CLinux", product("HeapModule", "swift-collections")],
            swiftSettings: safe),
        .target(name: "JSON", dependencies: ["CScan"], swiftSettings: spans),
        .target(
            name: "Kafka",
            dependencies: [
                "Basics", "CRdkafka", "EventLoop", "JSON", logging, product("DequeModule", "swift-collections"),
            ], swiftSettings: common),
        .target(name: "HTTPTransport", dependencies: ["Basics", "CCurl", "EventLoop"], swiftSettings: common),
        .target(
            name: "Resilience", dependencies: ["Basics", product("DequeModule", "swift-collections")],
            swiftSettings: safe),
        .target(name: "LocationSearch", dependencies: ["Basics", "Resilience", tracing], swiftSettings: spans),
        .target(
            name: "PlaceProviders",
            dependencies: ["Basics", "LocationSearch", "HTTPTransport", "JSON", "CScan", tracing],
            swiftSettings: spans),
        .target(name: "EventContract", dependencies: ["Basics", "LocationSearch", "JSON"], swiftSettings: spans),
        .target(
            name: "SessionState", dependencies: ["Basics", "EventContract", "LocationSearch"], swiftSettings: safe),
        .target(
            name: "Observability", dependencies: ["Basics", logging, product("CoreMetrics", "swift-metrics")],
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
                "Basics", "EventLoop", "Kafka", "LocationSearch", "EventContract", "Resilience", logging, metrics,
                tracing,
                product("DequeModule", "swift-collections"),
            ], swiftSettings: safe),
        .target(
            name: "HTTPServing",
            dependencies: [
                "Basics", product("Hummingbird", "hummingbird"), product("HummingbirdCore", "hummingbird"),
                product("NIOCore", "swift-nio"), product("NIOHTTP1", "swift-nio"),
                product("ServiceLifecycle", "swift-service-lifecycle"), logging,
            ], swiftSettings: safe),
        .target(
            name: "AdminServer", dependencies: ["HTTPServing", product("Hummingbird", "hummingbird"), logging],
            swiftSettings: safe),
        .target(
            name: "Console",
            dependencies: [
                "Basics", "EventContract", "HTTPServing", "JSON", "LocationSearch", "SessionState",
                product("Hummingbird", "hummingbird"), product("NIOCore", "swift-nio"),
                product("ServiceLifecycle", "swift-service-lifecycle"),
                product("AsyncAlgorithms", "swift-async-algorithms"), product("DequeModule", "swift-collections"),
                logging,
            ], resources: [.embedInCode("Page")], swiftSettings: spans),
        .target(
            name: "ProviderSimulator",
            dependencies: [
                "Basics", "JSON", logging, product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"),
                product("NIOHTTP1", "swift-nio"),
            ], swiftSettings: spans),
        .executableTarget(
            name: "locsearch",
            dependencies: [
                "AdminServer", "Basics", "Console", "EventContract", "EventLoop", "HTTPServing", "HTTPTransport",
                "JSON",
                "Kafka", "LocationSearch", "Observability", "PlaceProviders", "ProviderSimulator", "Resilience",
                "SessionState", "TraceExport", "WorkerRuntime", "CLinux", "CMimalloc",
                logging, metrics,
                product("ArgumentParser", "swift-argument-parser"), product("Configuration", "swift-configuration"),
                product("Crypto", "swift-crypto"), product("Yams", "Yams"),
                product("ServiceLifecycle", "swift-service-lifecycle"),
                product("UnixSignals", "swift-service-lifecycle"),
            ], swiftSettings: safe),

        // Event loops under virtual time: see docs/concurrency.md, 8. No part of locsearch.
        .target(name: "CTaskHooks", path: "Simulation/CTaskHooks"),
        .target(
            name: "SimulatedLoop",
            dependencies: ["Basics", "CTaskHooks", "EventLoop", product("HeapModule", "swift-collections")],
            path: "Simulation/SimulatedLoop", swiftSettings: safe),
        // A whole fleet under virtual time: see docs/simulation.md.
        .target(
            name: "FleetSimulation",
            dependencies: [
                "Basics", "EventContract", "EventLoop", "Kafka", "LocationSearch", "Observability", "Resilience",
                "SimulatedKafka", "SimulatedKafkaClients", "SimulatedLoop", "WorkerRuntime", logging,
            ], path: "Simulation/FleetSimulation", swiftSettings: safe),
        .executableTarget(
            name: "Simulate",
            dependencies: ["Basics", "FleetSimulation", product("ArgumentParser", "swift-argument-parser")],
            path: "Simulation/Simulate", swiftSettings: safe),

        // Jobs whose instructions are counted: see docs/performance.md.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Basics", "CMimalloc", "EventContract", "EventLoop", "HTTPTransport", "Kafka", "LocationSearch",
                "Observability", "PlaceProviders", "Resilience", "WorkerRuntime", logging,
            ], path: "Benchmarks", exclude: ["figures.txt"], swiftSettings: safe),

        // A model of Kafka for simulations, see docs/simulation.md: the brokers, without any dependency, and librdkafka's side.
        .target(name: "SimulatedKafka", path: "Simulation/SimulatedKafka", swiftSettings: safe),
        .target(
            name: "SimulatedKafkaClients", dependencies: ["Kafka", "SimulatedKafka"],
            path: "Simulation/SimulatedKafkaClients", swiftSettings: safe),

        // What several suites share: a clock driven by hand, waiting for a condition with a bound, a raw TCP server, the
        // broker that a test runs on.
        .target(
            name: "TestSupport", dependencies: ["Basics", "CRdkafka", "Kafka", "Resilience"], path: "Tests/TestSupport",
            swiftSettings: safe),
        .testTarget(name: "BasicsTests", dependencies: ["Basics"], swiftSettings: safe),
        .testTarget(name: "EventLoopTests", dependencies: ["Basics", "EventLoop", "TestSupport"], swiftSettings: safe),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"], swiftSettings: spans),
        .testTarget(
            name: "KafkaTests",
            dependencies: ["Basics", "CRdkafka", "Kafka", "TestSupport", product("InMemoryLogging", "swift-log")],
            swiftSettings: safe),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["Basics", "HTTPTransport", "TestSupport"], swiftSettings: safe),
        .testTarget(
            name: "ResilienceTests", dependencies: ["Basics", "Resilience", "TestSupport"], swiftSettings: safe),
        .testTarget(name: "FleetSimulationTests", dependencies: ["FleetSimulation"], swiftSettings: safe),
        .testTarget(
            name: "SimulatedLoopTests",
            dependencies: [
                "Basics", "EventContract", "EventLoop", "Kafka", "LocationSearch", "Observability", "Resilience",
                "SimulatedLoop", "WorkerRuntime", logging,
            ],
            swiftSettings: safe),
        .testTarget(
            name: "LocationSearchTests",
            dependencies: ["Basics", "EventLoop", "LocationSearch", "TraceExport", "TestSupport", tracing],
            swiftSettings: safe),
        .testTarget(
            name: "PlaceProvidersTests",
            dependencies: [
                "Basics", "EventContract", "EventLoop", "HTTPTransport", "JSON", "PlaceProviders", "TraceExport",
                "TestSupport", tracing,
            ],
            resources: [.copy("Fixtures")], swiftSettings: safe),
        .testTarget(
            name: "EventContractTests", dependencies: ["EventContract", "TestSupport"], swiftSettings: spans),
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
                "Basics", "EventLoop", "HTTPTransport", "Observability", "TraceExport", "TestSupport", tracing,
                product("InMemoryLogging", "swift-log"),
            ], swiftSettings: safe),
        .testTarget(
            name: "WorkerRuntimeTests",
            dependencies: ["Basics", "Observability", "TraceExport", "WorkerRuntime", "TestSupport", tracing],
            swiftSettings: safe),
        .testTarget(
            name: "HTTPServingTests",
            dependencies: ["HTTPServing", "TestSupport", product("Hummingbird", "hummingbird"), logging],
            swiftSettings: safe),
        .testTarget(
            name: "AdminServerTests", dependencies: ["AdminServer", "Basics", "HTTPServing", "TestSupport"],
            swiftSettings: safe),
        .testTarget(
            name: "ConsoleTests", dependencies: ["Console", "HTTPServing", "JSON", "SessionState", "TestSupport"],
            swiftSettings: safe),
        .testTarget(
            name: "LocsearchTests", dependencies: ["Basics", "Console", "locsearch", "TestSupport", "TraceExport"],
            swiftSettings: safe),
        .testTarget(
            name: "SimulatedKafkaTests", dependencies: ["Kafka", "SimulatedKafka", "SimulatedKafkaClients"],
            swiftSettings: safe),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Basics", "Kafka", "HTTPTransport", "Observability", "WorkerRuntime", "ProviderSimulator",
                "PlaceProviders", "TestSupport",
            ],
            swiftSettings: safe),
    ],
    swiftLanguageModes: [.v6]
)
