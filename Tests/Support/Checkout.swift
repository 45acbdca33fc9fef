import Foundation

/// Paths in the checkout.
package enum Checkout {
    /// The folder of the checkout, found from the path of this file.
    package static let folder: String = {
        let file = URL(fileURLWithPath: #filePath)
        return file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    }()

    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Returns the path of an archive in `Fixtures/`, for example `sample.wacz` or `damaged/no-index.wacz`.
    package static func fixture(_ name: String) -> String { path("Fixtures/\(name)") }

    /// The program to test: `REPLAYHOST_BINARY`, or the one built with the tests.
    package static var binary: String {
        ProcessInfo.processInfo.environment["REPLAYHOST_BINARY"] ?? path(".build/debug/replayhost")
    }
}
