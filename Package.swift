// swift-tools-version: 6.2
import PackageDescription

// Libraries that iOS doesn't have. On iOS, and with REPLAYHOST_PORTABLE=1 everywhere, the sources build without them.
// EMBEDDING.md lists what is missing then.
let isPortable = Context.environment["REPLAYHOST_PORTABLE"] == "1"
let haveLibraries: [Platform] = [.linux, .macOS]
let libraries: [Target.Dependency] =
    isPortable
    ? []
    : ["CLibzip", "CBrotli", "CZstd", "RE2Shim"].map { .target(name: $0, condition: .when(platforms: haveLibraries)) }
let stemmer: [Target.Dependency] =
    isPortable ? [] : [.target(name: "CStemmer", condition: .when(platforms: haveLibraries))]
let defines: [SwiftSetting] =
    isPortable
    ? []
    : ["WITH_LIBZIP", "WITH_BROTLI", "WITH_ZSTD", "WITH_RE2", "WITH_STEMMER"].map {
        .define($0, .when(platforms: haveLibraries))
    }

// `make fuzz` only: instruments our own targets for coverage, but not their dependencies.
let isFuzzed = Context.environment["REPLAYHOST_FUZZ"] == "1"
let instrumented: [SwiftSetting] =
    isFuzzed ? [.unsafeFlags(["-sanitize=fuzzer", "-profile-generate", "-profile-coverage-mapping"])] : []

let settings: [SwiftSetting] =
    defines + instrumented + [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        // Only on Linux, so that a deprecation in another system's SDK doesn't break the build there.
        .treatAllWarnings(as: .error, .when(platforms: [.linux])),
    ]

// The capture server starts other programs, so iOS can't have it. `replayhost` doesn't depend on any of its targets.
let captureDependencies: [Package.Dependency] =
    isPortable
    ? []
    : [
        .package(path: "ShareKit"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ]
let captureAPI = Target.Dependency.product(name: "CaptureAPI", package: "ShareKit")
let shareKit = Target.Dependency.product(name: "ShareKit", package: "ShareKit")
let captureReaders: [Target.Dependency] = isPortable ? [] : [captureAPI, "CaptureWorker"]
let captureTargets: [Target] =
    isPortable
    ? []
    : [
        .target(
            name: "CaptureWorker",
            dependencies: [
                captureAPI, "EgressGuard", "ReplayHostKit", "ArchiveStore", "WebArchive",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "EgressGuard",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        // Only this target uses NIOSSL, which brings a TLS library of its own.
        .target(
            name: "CaptureTLS",
            dependencies: [
                "ArchiveStore",
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        // No pkgConfig, so that builds of replayhost alone don't warn where the library is missing.
        .systemLibrary(name: "CQRencode", providers: [.apt(["libqrencode-dev"])]),
        .target(
            name: "CaptureServer",
            dependencies: [
                "CQRencode", "CZlib", "CaptureTLS",
                captureAPI, "CaptureWorker", "EgressGuard", "ReplayServer", "ArchiveStore", "WebArchive", "CZstd",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "replayhost-capture",
            dependencies: [
                "CaptureServer", "CaptureWorker", "EgressGuard", captureAPI, "CommandSupport", "TerminalText",
                "ReplayHostKit",
                "ReplayServer",
                "ArchiveStore",
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // Without the targets that need a library of the system: it also runs where nothing is saved.
        .executableTarget(
            name: "replayhost-share",
            dependencies: [
                captureAPI, shareKit, "TerminalText",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ShareURL", dependencies: [shareKit], path: "Examples/ShareURL", packageAccess: false,
            swiftSettings: settings),
        .testTarget(
            name: "ShareKitTests", dependencies: [captureAPI, shareKit, "TestSupport"], swiftSettings: settings),
        .testTarget(name: "CaptureAPITests", dependencies: [captureAPI], swiftSettings: settings),
        .testTarget(
            name: "EgressGuardTests",
            dependencies: [
                "EgressGuard", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CaptureWorkerTests",
            dependencies: ["CaptureWorker", captureAPI, "ArchiveStore", "WebArchive", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CaptureTLSTests",
            dependencies: [
                "CaptureTLS", "ArchiveStore", "TestSupport",
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CaptureServerTests",
            dependencies: [
                "CaptureServer", "CaptureWorker", captureAPI, "EgressGuard", "ArchiveStore", "ReplayServer",
                "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Golden"],
            swiftSettings: settings
        ),
    ]

let package = Package(
    name: "replayhost",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "ReplayHostKit", targets: ["ReplayHostKit"]),
        .library(name: "WebArchive", targets: ["WebArchive"]),
        .executable(name: "replayhost", targets: ["replayhost"]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ] + captureDependencies,
    targets: [
        .systemLibrary(name: "CLibzip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        // Debian's package has no description for pkg-config.
        .systemLibrary(name: "CStemmer", providers: [.apt(["libstemmer-dev"])]),
        .target(name: "CLinux"),
        .target(name: "RE2Shim", linkerSettings: [.linkedLibrary("re2", .when(platforms: haveLibraries))]),
        .target(
            name: "WebArchive",
            dependencies: libraries + [
                "CZlib", .target(name: "CLinux", condition: .when(platforms: [.linux])),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            resources: [.embedInCode("Fuzzy/fuzzy-rules.json")],
            swiftSettings: settings),
        // Of what replayhost is built from, only this target uses X509 and SwiftASN1.
        .target(
            name: "ArchiveSignature",
            dependencies: [
                "WebArchive",
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ArchiveStore",
            dependencies: [
                "ArchiveSignature", "WebArchive", "CZlib",
                .target(name: "CLinux", condition: .when(platforms: [.linux])),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
            ] + stemmer,
            swiftSettings: settings
        ),
        .target(
            name: "ReplayServer",
            dependencies: [
                "ArchiveStore", "WebArchive", .target(name: "CLinux", condition: .when(platforms: [.linux])),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ReplayHostKit",
            dependencies: [
                "ReplayServer", "ArchiveStore", "WebArchive",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // What all three programs share. It needs no library.
        .target(name: "TerminalText", swiftSettings: settings),
        // What replayhost and replayhost-capture share.
        .target(
            name: "CommandSupport",
            dependencies: [
                "TerminalText", "ReplayHostKit", "ArchiveStore", "WebArchive",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "replayhost",
            dependencies: [
                "CommandSupport", "ReplayHostKit", "ReplayServer", "ArchiveStore", "ArchiveSignature", "WebArchive",
                "CLinux",
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "EmbeddedHost", dependencies: ["ReplayHostKit"], path: "Examples/EmbeddedHost", packageAccess: false,
            swiftSettings: settings),
        .executableTarget(
            name: "ReadArchive", dependencies: ["WebArchive"], path: "Examples/ReadArchive", packageAccess: false,
            swiftSettings: settings),
        .executableTarget(
            name: "TimeLookups", dependencies: ["WebArchive"], path: "Examples/TimeLookups", packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "FuzzReaders",
            dependencies: ["WebArchive", "ArchiveSignature", "ArchiveStore", "ReplayServer", "CZlib"] + captureReaders,
            path: "Fuzz/Readers",
            swiftSettings: settings),
        .target(
            name: "TestSupport",
            dependencies: ["CZlib", .target(name: "CLinux", condition: .when(platforms: [.linux]))],
            path: "Tests/Support", swiftSettings: settings),
        .testTarget(
            name: "WebArchiveTests",
            dependencies: ["WebArchive", "CZlib", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),
        .testTarget(
            name: "ArchiveSignatureTests",
            dependencies: [
                "ArchiveSignature", "WebArchive", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: ["Golden"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ArchiveStoreTests",
            dependencies: [
                "ArchiveStore", "ArchiveSignature", "WebArchive", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Search/intruder.c"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReplayServerTests",
            dependencies: [
                "ReplayServer", "ArchiveStore", "TestSupport",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "replayhost", "CommandSupport", "TerminalText", "ReplayHostKit", "ArchiveStore", "TestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReplayHostKitTests",
            dependencies: ["ReplayHostKit", "TestSupport", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .testTarget(
            name: "ExampleTests", dependencies: ["ReadArchive", "TimeLookups", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzReaders", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "TidyTests", dependencies: ["TestSupport"], exclude: ["Golden"], swiftSettings: settings),
    ],
    cxxLanguageStandard: .cxx17
)
package.targets += captureTargets
if !isPortable {
    package.products += ["replayhost-capture", "replayhost-share"].map { .executable(name: $0, targets: [$0]) }
}

// `make docs` only, so that other builds don't download it.
if Context.environment["REPLAYHOST_DOCS"] == "1" {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", exact: "1.5.0"))
}

// `make fuzz` only: it links libFuzzer, which some toolchains don't have.
if isFuzzed {
    package.targets.append(
        .executableTarget(
            name: "Fuzzer", dependencies: ["FuzzReaders"], path: "Fuzz/Program", swiftSettings: settings,
            linkerSettings: [
                .linkedLibrary("stdc++"), .linkedLibrary("m"), .unsafeFlags(["-profile-generate"]),
            ]))
}
