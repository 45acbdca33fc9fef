import Foundation

/// An export that waits to be downloaded. Its file has no name, so that it's deleted with the last reference, also if the
/// process is killed.
package final class StagedExport: Sendable {
    /// The name for the download.
    package let name: String
    package let file: Descriptor
    /// The size in bytes.
    package let size: UInt64
    package let result: Exporter.Result

    fileprivate init(name: String, file: Descriptor, result: Exporter.Result) throws {
        (self.name, self.file, self.result) = (name, file, result)
        size = UInt64(clamping: try file.status().st_size)
        try Folder.delete(file.path)
    }
}

extension ArchiveStore {
    /// Writes an export into a locked file of the store, which `repair` deletes if this process ends.
    ///
    /// - Throws: What `body` throws; `StoreError` `unusable` for a read-only store.
    package func stageExport(
        named name: String, _ body: (Exporter.Target) throws -> Exporter.Result
    ) throws -> StagedExport {
        try checkWritable()
        let file = try layout.makeLockedFile()
        do {
            return try StagedExport(name: name, file: file, result: try body(.existing(file.path)))
        } catch {
            unlink(file.path)
            throw error
        }
    }
}
