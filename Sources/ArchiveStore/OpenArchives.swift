import Foundation
import Synchronization
package import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An archive's file, open for streaming, with what HTTP says about it. Reading goes on whole after a removal.
package final class OpenArchiveFile: Sendable {
    package let archive: Archive
    package let file: Descriptor
    /// Of the file as it is sent, in bytes.
    package let size: UInt64
    /// What is sent instead of the file's own end, to a reader that goes wrong with that.
    package let tail: ZIPTail?
    /// Seconds since 1970: when the file came into the store.
    package let modifiedAt: Int

    init(archive: Archive, file: Descriptor, tail: ZIPTail?) throws {
        let status = try file.status()
        self.archive = archive
        self.file = file
        self.tail = tail
        size = tail.map { $0.offset + UInt64($0.bytes.count) } ?? UInt64(clamping: status.st_size)
        modifiedAt = Int(archive.importedAt.timeIntervalSince1970)
    }

    fileprivate var isDeleted: Bool {
        guard let status = try? file.status() else { return true }
        return status.st_nlink == 0
    }
}

/// The archives that are being read, so that each request does not open them anew. Bounded; safe from every thread.
package final class OpenArchives: Sendable {
    private let layout: StoreLayout
    private let catalog: Catalog

    private struct CachedFile {
        let file: OpenArchiveFile
        var checkedAt: ContinuousClock.Instant
    }
    /// How a file is asked for.
    package struct Request: Sendable, Hashable {
        /// An id or an original file name.
        package let name: String
        /// Whether the replay engine reads it: then a misleading ZIP directory is replaced by a plainer one.
        package let isForReplay: Bool

        /// - Parameter path: The last part of a path, percent-encoded, with or without `.wacz`; `nil` when it is not well-formed.
        package init?(path: some StringProtocol, isForReplay: Bool) {
            guard let name = path.removingPercentEncoding, !name.isEmpty else { return nil }
            self.name = name.hasSuffix(".wacz") ? String(name.dropLast(5)) : name
            self.isForReplay = isForReplay
        }
    }
    private struct State {
        var files: [Request: CachedFile] = [:]
        var packages: [String: IndexedArchive] = [:]
    }
    private let state = Mutex(State())

    init(layout: StoreLayout, catalog: Catalog) {
        self.layout = layout
        self.catalog = catalog
    }

    /// The file for a request that was looked up less than a second ago. Never blocks.
    package func recentFile(for request: Request) -> OpenArchiveFile? {
        state.withLock { state in
            guard let cached = state.files[request], cached.checkedAt.duration(to: .now) < Self.trust else {
                return nil
            }
            return cached.file
        }
    }

    /// The file for an id or an original name; `nil` when no archive has it. Asks the catalog, opens the file if need be.
    package func file(for request: Request) throws -> OpenArchiveFile? {
        guard let archive = try catalog.archive(named: request.name) else {
            state.withLock { $0.files[request] = nil }
            return nil
        }
        let cached = state.withLock { state in
            // Somebody else may have removed archives: their disk space comes back only when nobody holds the files.
            state.files = state.files.filter { !$0.value.file.isDeleted }
            return state.files[request]?.file
        }
        let file: OpenArchiveFile
        if let cached, cached.archive == archive {
            file = cached
        } else {
            file = try OpenArchiveFile(
                archive: archive, file: Descriptor(path: layout.file(archive.key), flags: O_RDONLY),
                tail: request.isForReplay ? wacz(of: archive).plainerTail() : nil)
        }
        state.withLock { state in
            if state.files.count >= Self.filesMax, state.files[request] == nil { state.files.removeAll() }
            state.files[request] = CachedFile(file: file, checkedAt: .now)
        }
        return file
    }

    /// The package behind an archive, opened once; lookups in it search what `lookups` says.
    package func wacz(of archive: Archive) throws(WebArchiveError) -> WACZFile { try lookups(archive).wacz }

    /// The package behind an archive, opened once, with all that lookups need.
    ///
    /// - Throws: What `WACZFile.open` throws.
    package func lookups(_ archive: Archive) throws(WebArchiveError) -> IndexedArchive {
        // Index files may have been written since it was opened.
        if let open = state.withLock({ $0.packages[archive.key] }), open.archive.lookups == archive.lookups {
            return open
        }
        let opened = try IndexedArchive.open(archive, layout: layout)
        state.withLock { state in
            if state.packages.count >= Self.packagesMax { state.packages.removeAll() }
            state.packages[archive.key] = opened
        }
        return opened
    }

    /// Lets go of an archive that was removed.
    package func forget(key: String) {
        state.withLock { state in
            state.files = state.files.filter { $0.value.file.archive.key != key }
            state.packages[key] = nil
        }
    }

    private static let trust = Duration.seconds(1)
    private static let filesMax = 256
    private static let packagesMax = 32
}
