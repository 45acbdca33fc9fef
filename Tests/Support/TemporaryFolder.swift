import Foundation

/// A folder of a test's own, deleted with its contents when the last reference goes away.
package final class TemporaryFolder: Sendable {
    /// Absolute, without links, no slash at its end.
    package let path: String

    package init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        path = (base as NSString).appendingPathComponent("replayhost-test-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        // A test that leaves something unreadable behind has failed already or says so itself.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of something in it.
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

/// Names in a folder, sorted; empty when there is no such folder.
package func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
}

/// All bytes of a file.
package func contents(of path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}
