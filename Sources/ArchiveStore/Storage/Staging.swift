import Foundation
import WebArchive

extension StoreLayout {
    /// Runs `body` with the commit lock, which lets one process at a time change the store.
    ///
    /// The lock is on the folder `files/`. On file systems without locks `body` runs without it; the final rename is
    /// still atomic. Calls can't be nested.
    ///
    /// - Parameter checkCancellation: Called while waiting; throws to stop.
    func withCommitLock<Value>(checkCancellation: () throws -> Void = {}, _ body: () throws -> Value) throws -> Value {
        let folder = try Descriptor(path: files, flags: O_RDONLY | O_DIRECTORY)
        while folder.lock() == .heldByAnother {
            try checkCancellation()
            usleep(20_000)
        }
        return try withExtendedLifetime(folder) { try body() }
    }

    /// Runs `body` with a new locked file in `incoming/`, and deletes it afterwards unless it was moved.
    func withStagingFile<Value>(_ body: (Descriptor) throws -> Value) throws -> Value {
        let file = try makeLockedFile()
        defer { unlink(file.path) }
        return try body(file)
    }

    /// Creates a locked file in `incoming/`. While it is open, `repair` doesn't delete it or files named after it.
    ///
    /// - Parameter path: Returns the path for a random name; `nil` for that of a copy.
    func makeLockedFile(at path: ((String) -> String)? = nil) throws -> Descriptor {
        while true {
            let path = (path ?? incomingCopy)(UUID().uuidString.lowercased())
            let file = try Descriptor(path: path, flags: O_RDWR | O_CREAT | O_EXCL)
            // On file systems without locks, `repair` keeps new files.
            let lock = file.lock()
            // Try again if `repair` has locked or deleted the file in between.
            if lock != .heldByAnother, try file.status().st_nlink > 0 { return file }
        }
    }

    /// - Throws: `StoreError` `noSpace` if less than `size` and a reserve is free.
    func checkSpace(for size: UInt64, what: String) throws {
        let free = try Folder.freeBytes(at: incoming)
        guard free > size, free - size > Self.spaceMargin else {
            throw StoreError(
                .noSpace,
                "not enough space for \(what): \(ByteSize.text(size)) and a reserve of \(ByteSize.text(Self.spaceMargin)) "
                    + "needed, \(ByteSize.text(free)) free",
                place: root, hint: "free some space there, or choose another store with --store")
        }
    }

    /// A reserve for the catalog and other programs.
    private static let spaceMargin: UInt64 = 32 << 20
}
