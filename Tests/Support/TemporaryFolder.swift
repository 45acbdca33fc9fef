import Foundation

/// A temporary folder, which is deleted with its contents when the last reference is released.
package final class TemporaryFolder: Sendable {
    /// The absolute path, without links or a trailing slash.
    package let path: String

    package init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        path = (base as NSString).appendingPathComponent("replayhost-test-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        // A test that leaves an unreadable file has failed already.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the path of an item in the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, with the folders above it, and returns its path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let target = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: target)
        return target.path
    }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }
}

/// Returns the sorted names in a folder, or an empty array if it doesn't exist.
package func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
}

/// Returns the contents of a file.
package func contents(of path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}
