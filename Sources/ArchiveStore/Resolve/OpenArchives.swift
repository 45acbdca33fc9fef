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

    fileprivate var isDeleted: Bool { OpenArchives.isDeleted(file.number) }

    /// Whether what is being sent is still the file that was read; one of the store never changes.
    package var isUnchanged: Bool {
        guard let linkedFile = archive.storage.linkedFile else { return true }
        guard let status = try? file.status() else { return false }
        return linkedFile.describes(status)
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
        let indexed: IndexedArchive
        var usedAt: ContinuousClock.Instant
        /// When its index files were found to be those that it searches.
        var checkedAt: ContinuousClock.Instant

        var isDeleted: Bool {
            (indexed.wacz.source as? FileByteSource).map { OpenArchives.isDeleted($0.descriptor) } == true
        }
    }
    /// Which files a package was opened from. Another process may write those of the index anew.
    private struct PackageStamp: Equatable {
        let storage: ArchiveStorage
        let lookups: ArchiveLookups?
        let indexFiles: [String?]

        init(_ archive: Archive, _ layout: StoreLayout) {
            (storage, lookups) = (archive.storage, archive.lookups)
            indexFiles = (lookups?.files ?? []).map { StoreDocument.stamp(of: layout.index($0, key: archive.key)) }
        }
    }
    /// What outlives the closing of a package. It is opened under this lock, so that others who want it wait.
    private final class KnownPackage: Sendable {
        let last = Mutex<(stamp: PackageStamp, fault: IndexFault)?>(nil)
    }
    private struct State {
        var files: [Request: CachedFile] = [:]
        /// By the archive's key.
        var packages: [String: OpenPackage] = [:]
        /// By the archive's key: every one that was opened since the start.
        var known: [String: KnownPackage] = [:]
    }
    private let state = Mutex(State())
    private let packagesMax: Int
    private let trust: Duration

    /// - Parameters:
    ///   - packagesMax: Packages that stay open; each has up to three files.
    ///   - trust: How long a file that was looked up is believed to be the right one.
    init(layout: StoreLayout, catalog: Catalog, packagesMax: Int = 128, trust: Duration = .seconds(1)) {
        self.layout = layout
        self.catalog = catalog
        self.packagesMax = packagesMax
        self.trust = trust
    }

    /// The file for a request that was looked up less than a second ago. Never blocks.
    package func recentFile(for request: Request) -> OpenArchiveFile? {
        state.withLock { state in
            guard let cached = state.files[request], cached.checkedAt.duration(to: .now) < trust else {
                return nil
            }
            // A file outside of the store can become another one at any time.
            return cached.file.archive.storage.isLinked ? nil : cached.file
        }
    }

    /// The file for an id or an original name; `nil` when no archive has it. Asks the catalog, opens the file if need be.
    package func file(for request: Request) throws -> OpenArchiveFile? {
        guard let archive = try catalog.archive(named: request.name) else {
            state.withLock { $0.files[request] = nil }
            return nil
        }
        let cached = state.withLock { $0.files[request]?.file }
        let file: OpenArchiveFile
        if let cached, cached.archive == archive, !cached.isDeleted,
            !archive.storage.isLinked || archive.availability(in: layout) == .available
        {
            file = cached
        } else {
            state.withLock { $0.files[request] = nil }
            file = try OpenArchiveFile(
                archive: archive, file: archive.openFile(in: layout),
                tail: request.isForReplay ? wacz(of: archive).simplifiedDirectory() : nil)
        }
        state.withLock { state in
            state.files[request] = CachedFile(file: file, checkedAt: .now)
            state.files.shrink(
                to: Self.filesMax, costMax: Self.tailBytesMax, keeping: request, cost: \.file.tailBytes,
                usedAt: \.checkedAt)
        }
        return file
    }

    /// The package behind an archive, opened once; lookups in it search what `lookups` says.
    package func wacz(of archive: Archive) throws -> WACZFile { try lookups(archive).wacz }

    /// The package behind an archive, opened once, with all that lookups need.
    ///
    /// - Throws: What `WACZFile.open` throws; `StoreError` `unavailable` or `changed` for a linked file, `notFound` for an archive
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
        if let open = recentPackage(archive) { return open }
        let known = state.withLock { state in
            let known = state.known[archive.key] ?? KnownPackage()
            state.known[archive.key] = known
            return known
        }
        return try known.last.withLock { last in
            // Somebody else may have just opened it.
            if let open = recentPackage(archive) { return open }
            // Looked at before they are opened: what is written meanwhile shows the next time.
            let stamp = PackageStamp(archive, layout)
            var fault = IndexFault()
            if let last, last.stamp == stamp {
                if let open = recentPackage(archive, isChecked: true) { return open }
                fault = last.fault
            }
            let opened = try open(archive, fault)
            last = (stamp, fault)
            state.withLock { state in
                // Let go of meanwhile, it's only for who asked.
                guard state.known[archive.key] === known else { return }
                state.packages[archive.key] = OpenPackage(indexed: opened, usedAt: .now, checkedAt: .now)
                state.packages.shrink(
                    to: packagesMax, costMax: Self.entriesMax, keeping: archive.key, cost: \.indexed.entryCount,
                    usedAt: \.usedAt)
            }
            return opened
        }
    }

    /// The package if it is open, and was opened from the files that the archive's row names.
    ///
    /// - Parameter isChecked: Whether its index files were just found to be the same; `nil` is returned otherwise once
    ///   that was too long ago.
    private func recentPackage(_ archive: Archive, isChecked: Bool = false) -> IndexedArchive? {
        state.withLock { state in
            guard var open = state.packages[archive.key], open.indexed.archive.lookups == archive.lookups,
                open.indexed.archive.storage == archive.storage
            else { return nil }
            open.usedAt = .now
            if isChecked { open.checkedAt = open.usedAt }
            guard archive.lookups?.usesSidecar != true || open.checkedAt.duration(to: open.usedAt) <= trust else {
                return nil
            }
            state.packages[archive.key] = open
            var indexed = open.indexed
            indexed.archive = archive
            return indexed
        }
    }

    private func open(_ archive: Archive, _ fault: IndexFault) throws -> IndexedArchive {
        do {
            return try IndexedArchive.open(archive, layout: layout, fault: fault)
        } catch {
            // Its row outlives its file by a moment.
            guard archive.availability(in: layout) == .missing,
                try Folder.exists(layout.removed(archive.key)) || catalog.archive(key: archive.key) == nil
            else { throw error }
            throw StoreError(.notFound, "the archive was removed", place: archive.id.text)
        }
    }

    /// An archive to be asked by a query of its index.
    ///
    /// - Parameter isOneOfSeveral: Whether it's passed over when its file can't be found by the time it is asked.
    package func querySource(_ archive: Archive, isOneOfSeveral: Bool) -> CDXQuerySource {
        CDXQuerySource(name: archive.id.text) { () throws(WebArchiveError) in
            do {
                let indexed = try self.lookups(archive)
                return (indexed.wacz, indexed.assumesSorted)
            } catch {
                if isOneOfSeveral, archive.availability(in: self.layout) != .available { return nil }
                if let error = error as? WebArchiveError { throw error }
                let words = (error as? StoreError)?.what ?? "\(error)"
                throw WebArchiveError(code: .io, problem: words, file: "\(archive.id).wacz")
            }
        }
    }

    /// Lets go of linked files that nobody has asked for in a while, so that their volumes can be detached, and of
    /// the store's own that were deleted: their disk space comes back only when nobody holds them.
    func releaseUnused(now: ContinuousClock.Instant) {
        // Only the lists are read under the lock, which every event loop takes: asking a file may take long.
        let (files, packages) = state.withLock { ($0.files, $0.packages) }
        let unusedFiles = files.filter { _, cached in
            cached.file.archive.storage.isLinked
                ? cached.checkedAt.duration(to: now) >= Self.idle : cached.file.isDeleted
        }
        let unusedPackages = packages.filter { _, open in
            open.indexed.archive.storage.isLinked
                ? open.usedAt.duration(to: now) >= Self.idle : open.isDeleted
        }
        state.withLock { state in
            for (request, cached) in unusedFiles where state.files[request]?.checkedAt == cached.checkedAt {
                state.files[request] = nil
            }
            for (key, open) in unusedPackages where state.packages[key]?.usedAt == open.usedAt {
                state.packages[key] = nil
            }
        }
    }

    /// Lets go of an archive that was removed.
    package func forget(key: String) {
        state.withLock { state in
            state.files = state.files.filter { $0.value.file.archive.key != key }
            (state.packages[key], state.known[key]) = (nil, nil)
        }
    }

    fileprivate static func isDeleted(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    private static let idle = Duration.seconds(2)
    private static let filesMax = 256
    /// ZIP entries and listed files of all opened packages together: some 60 MB of memory.
    private static let entriesMax = 200_000
    /// Bytes of all directories that were written anew.
    private static let tailBytesMax = 32 << 20
}

extension Dictionary {
    /// Lets go of what was used the longest ago, never of `key`, while there are more than `countMax` or they cost more
    /// than `costMax` in all.
    fileprivate mutating func shrink(
        to countMax: Int, costMax: Int, keeping key: Key, cost: (Value) -> Int,
        usedAt: (Value) -> ContinuousClock.Instant
    ) {
        var total = values.reduce(0) { $0 + cost($1) }
        guard count > countMax || total > costMax else { return }
        for (oldest, value) in sorted(by: { usedAt($0.value) < usedAt($1.value) }) where oldest != key {
            self[oldest] = nil
            total -= cost(value)
            if count <= countMax, total <= costMax { return }
        }
    }
}
