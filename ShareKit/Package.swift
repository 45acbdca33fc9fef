// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that an app for iOS 15 needs nothing but Foundation. The main package depends on it by its path.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Only on Linux, so that a deprecation in another system's SDK doesn't break the build there.
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

let package = Package(
    name: "ShareKit",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        .library(name: "CaptureAPI", targets: ["CaptureAPI"]),
        .library(name: "ShareKit", targets: ["ShareKit"]),
    ],
    targets: [
        // The requests and answers of the capture server.
        .target(name: "CaptureAPI", swiftSettings: settings),
        // The client: queue, history, settings and transport.
        .target(name: "ShareKit", dependencies: ["CaptureAPI"], swiftSettings: settings),
    ]
)
