import Foundation

/// A folder that is being written, beside the place where it appears when it's complete. It's locked meanwhile, so that the
/// next export to that place can delete what a killed process has left.
enum PartialFolder {
    /// Calls `body` with the path of a new folder, and gives the folder its name afterwards. If `body` throws, nothing is left.
    static func write<Value>(_ folder: String, _ body: (String) throws -> Value) throws -> Value {
        let given = folder
        let folder = URL(fileURLWithPath: folder).path
        try deleteAbandoned(beside: folder)
        let partial = "\(folder)\(suffix)\(UUID().uuidString.lowercased())"
        do {
            try FileManager.default.createDirectory(atPath: partial, withIntermediateDirectories: true)
        } catch let error as CocoaError {
            throw StoreError.file(error, doing: "creating the folder", path: given)
        }
        defer { try? FileManager.default.removeItem(atPath: partial) }
        let lock = try Descriptor(path: partial, flags: O_RDONLY | O_DIRECTORY)
        _ = lock.lock()
        return try withExtendedLifetime(lock) {
            let value = try body(partial)
            try Folder.move(partial, to: folder)
            return value
        }
    }

    /// Deletes folders that killed processes have left beside any folder that is exported to the same parent.
    private static func deleteAbandoned(beside folder: String) throws {
        let parent = URL(fileURLWithPath: folder).deletingLastPathComponent().path
        for name in (try? Folder.names(in: parent)) ?? [] {
            guard let start = name.range(of: suffix, options: .backwards)?.upperBound,
                UUID(uuidString: String(name[start...])) != nil
            else { continue }
            let path = "\(parent)/\(name)"
            guard let found = try? Descriptor(path: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
                found.lock() == .acquired
            else { continue }
            try withExtendedLifetime(found) { try FileManager.default.removeItem(atPath: path) }
        }
    }

    private static let suffix = ".part-"
}
