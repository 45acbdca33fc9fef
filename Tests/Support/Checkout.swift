import Foundation

/// Where the tests find the rest of the checkout.
package enum Checkout {
    /// Its folder, from the place of this file in it.
    package static let folder: String = {
        let file = URL(fileURLWithPath: #filePath)
        return file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    }()

    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// An archive of `Fixtures/`, for example `sample.wacz` or `damaged/no-index.wacz`.
    package static func fixture(_ name: String) -> String { path("Fixtures/\(name)") }

    /// The built program: `REPLAYHOST_BINARY`, else the one that was built with the tests.
    package static var binary: String {
        ProcessInfo.processInfo.environment["REPLAYHOST_BINARY"] ?? path(".build/debug/replayhost")
    }
}
