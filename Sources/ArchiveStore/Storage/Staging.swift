import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension StoreLayout {
    /// Runs what makes an import or a removal visible, while no other process does; waits for one that does.
    ///
    /// The lock is on the folder `files/` itself. File systems without locks are used without: there the one rename still
    /// keeps every archive whole. Not to be nested.
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

    /// Runs `body` with a new locked file in `incoming/`, and deletes that afterwards, unless it was moved.
    func withStagingFile<Value>(_ body: (Descriptor) throws -> Value) throws -> Value {
        let file = try makeLockedFile()
        defer { unlink(file.path) }
        return try body(file)
    }

    /// A new file in `incoming/`, locked: sweeping leaves it alone, with those that are named for it, while it is open.
    ///
    /// - Parameter path: Where, for a random name; `nil` for a copy.
    func makeLockedFile(at path: ((String) -> String)? = nil) throws -> Descriptor {
        while true {
            let path = (path ?? incomingCopy)(UUID().uuidString.lowercased())
            let file = try Descriptor(path: path, flags: O_RDWR | O_CREAT | O_EXCL)
            // Without locks on this file system, sweeping leaves young files alone.
            let lock = file.lock()
            // A sweep may have come between the two calls above, and be about to delete the file or have done so: try again.
            if lock != .heldByAnother, try file.status().st_nlink > 0 { return file }
        }
    }

    /// - Throws: `noSpace` when fewer bytes are free than `what` needs, and a margin.
    func checkSpace(for size: UInt64, what: String) throws {
        let free = try Folder.freeBytes(at: incoming)
        guard free > size, free - size > Self.spaceMargin else {
            throw StoreError(
                .noSpace, "\(what) needs \(size) bytes and a margin of \(Self.spaceMargin), \(free) are free",
                place: root, hint: "free some space there, or choose another store with --store")
        }
    }

    /// What the catalog and other programs may need meanwhile.
    private static let spaceMargin: UInt64 = 32 << 20
}
