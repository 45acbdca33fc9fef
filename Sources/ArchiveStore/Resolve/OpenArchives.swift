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
    /// Seconds since 1970: when the file came into the store, or was changed where it is.
    package let modifiedAt: Int

    init(archive: Archive, file: Descriptor, tail: ZIPTail?) throws {
        let status = try file.status()
        self.archive = archive
        self.file = file
        self.tail = tail
        size = tail.map { $0.offset + UInt64($0.bytes.count) } ?? UInt64(clamping: status.st_size)
        modifiedAt =
            archive.storage.linkedFile.map { Int($0.modifiedAtNanoseconds / 1_000_000_000) }
            ?? Int(archive.importedAt.timeIntervalSince1970)
    }

    fileprivate var tailBytes: Int { tail?.bytes.count ?? 0 }

    fileprivate var isDeleted: Bool {
        guard let status = try? file.status() else { return true }
        return status.st_nlink == 0
    }

    /// Whether what is being sent is still the file that was read; one of the store never changes.
    package var isUnchanged: Bool {
        guard let reference = archive.storage.linkedFile else { return true }
        guard let status = try? file.status() else { return false }
        return reference.describes(status)
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

        /// - Parameters:
        ///   - path: The last part of a path, percent-encoded, with or without `.wacz`; `nil` when it is not well-formed.
        ///   - query: In which the engine says `view=replay`.
        package init?(path: some StringProtocol, query: Substring?) {
            guard let name = path.removingPercentEncoding, !name.isEmpty else { return nil }
            self.name = name.hasSuffix(".wacz") ? String(name.dropLast(5)) : name
            isForReplay = query?.split(separator: "&").contains("view=replay") ?? false
        }
    }
    private struct OpenPackage {
        let package: IndexedArchive
        var usedAt: ContinuousClock.Instant
    }
    private struct State {
        var files: [Request: CachedFile] = [:]
        var packages: [String: OpenPackage] = [:]
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
            // A file outside of the store can become another one at any time.
            return !cached.file.archive.storage.isLinked ? cached.file : nil
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
        if let cached, cached.archive == archive, !archive.storage.isLinked || archive.availability(in: layout) == .here
        {
            file = cached
        } else {
            state.withLock { $0.files[request] = nil }
            file = try OpenArchiveFile(
                archive: archive, file: archive.openFile(in: layout),
                tail: request.isForReplay ? wacz(of: archive).plainerTail() : nil)
        }
        state.withLock { state in
            let tailBytes = state.files.values.reduce(file.tailBytes) { $0 + $1.file.tailBytes }
            if state.files[request] == nil, state.files.count >= Self.filesMax || tailBytes > Self.tailBytesMax {
                state.files.removeAll()
            }
            state.files[request] = CachedFile(file: file, checkedAt: .now)
        }
        return file
    }

    /// The package behind an archive, opened once; lookups in it search what `lookups` says.
    package func wacz(of archive: Archive) throws -> WACZFile { try lookups(archive).wacz }

    /// The package behind an archive, opened once, with all that lookups need.
    ///
    /// - Throws: What `WACZFile.open` throws; `StoreError` `offline` or `changed` for a referenced file, `notFound` for an archive
    ///   that is being removed.
    package func lookups(_ archive: Archive) throws -> IndexedArchive {
        if archive.storage.isLinked {
            do {
                try archive.checkAvailability(in: layout)
            } catch {
                forget(key: archive.key)
                throw error
            }
        }
        let open = state.withLock { state in
            state.packages[archive.key]?.usedAt = .now
            return state.packages[archive.key]?.package
        }
        // Index files may have been written since it was opened, or a referenced file read anew.
        if let open, open.archive.lookups == archive.lookups, open.archive.storage == archive.storage {
            return open
        }
        let opened: IndexedArchive
        do {
            opened = try IndexedArchive.open(archive, layout: layout)
        } catch {
            // Its row outlives its file by a moment.
            guard archive.availability(in: layout) == .missing,
                try Folder.exists(layout.removed(archive.key)) || catalog.archive(key: archive.key) == nil
            else { throw error }
            throw StoreError(.notFound, "the archive was removed", place: archive.id.text)
        }
        state.withLock { state in
            let entryCount = state.packages.values.reduce(opened.entryCount) { $0 + $1.package.entryCount }
            if state.packages.count >= Self.packagesMax || entryCount > Self.entriesMax { state.packages.removeAll() }
            state.packages[archive.key] = OpenPackage(package: opened, usedAt: .now)
        }
        return opened
    }

    /// An archive to be asked by a query of its index.
    ///
    /// - Parameter isOneOfSeveral: Whether it's passed over when its file can't be found by the time it is asked.
    package func querySource(_ archive: Archive, isOneOfSeveral: Bool) -> CDXQuerySource {
        CDXQuerySource(name: archive.id.text) { () throws(WebArchiveError) in
            do {
                let indexed = try self.lookups(archive)
                return (indexed.wacz, indexed.trustsOrder)
            } catch {
                if isOneOfSeveral, archive.availability(in: self.layout) != .here { return nil }
                if let error = error as? WebArchiveError { throw error }
                let words = (error as? StoreError)?.what ?? "\(error)"
                throw WebArchiveError(code: .io, problem: words, file: "\(archive.id).wacz")
            }
        }
    }

    /// Lets go of referenced files that nobody has asked for in a while, so that their volumes can be detached.
    func releaseIdleReferences(now: ContinuousClock.Instant) {
        state.withLock { state in
            state.files = state.files.filter {
                !$0.value.file.archive.storage.isLinked || $0.value.checkedAt.duration(to: now) < Self.idle
            }
            state.packages = state.packages.filter {
                !$0.value.package.archive.storage.isLinked || $0.value.usedAt.duration(to: now) < Self.idle
            }
        }
    }

    /// Lets go of an archive that was removed.
    package func forget(key: String) {
        state.withLock { state in
            state.files = state.files.filter { $0.value.file.archive.key != key }
            state.packages[key] = nil
        }
    }

    private static let trust = Duration.seconds(1)
    private static let idle = Duration.seconds(2)
    private static let filesMax = 256
    private static let packagesMax = 32
    /// ZIP entries and listed files of all opened packages together: some 60 MB of memory.
    private static let entriesMax = 200_000
    /// Bytes of all directories that were written anew.
    private static let tailBytesMax = 32 << 20
}
