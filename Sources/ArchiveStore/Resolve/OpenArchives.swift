import Foundation
import Synchronization
package import WebArchive

/// An archive's file, open for streaming, with its HTTP metadata. It stays readable after the archive is removed.
package final class OpenArchiveFile: Sendable {
    package let archive: Archive
    package let file: Descriptor
    /// The size in bytes as it is sent.
    package let size: UInt64
    /// A simplified ZIP directory that replaces the end of the file, for readers that can't handle the original.
    package let tail: ZIPTail?
    /// The time of the import, or the modification time of a linked file, in seconds since 1970.
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

    /// Whether a linked file is unchanged. Files in the store never change.
    package var isUnchanged: Bool {
        guard let linkedFile = archive.storage.linkedFile else { return true }
        guard let status = try? file.status() else { return false }
        return linkedFile.describes(status)
    }
}

/// A bounded cache of open archives. Thread-safe.
package final class OpenArchives: Sendable {
    private let layout: StoreLayout
    private let catalog: Catalog

    private struct CachedFile {
        let file: OpenArchiveFile
        var checkedAt: ContinuousClock.Instant
    }
    /// A request for an archive's file.
    package struct Request: Sendable, Hashable {
        /// An id or the name of an imported file.
        package let name: String
        /// Whether the replay engine reads the file. It gets a simplified ZIP directory if necessary.
        package let isForReplay: Bool

        /// - Parameters:
        ///   - path: The last component of a path, percent-encoded, with or without `.wacz`.
        ///   - query: Contains `view=replay` for the engine.
        package init?(path: some StringProtocol, query: Substring?) {
            guard let name = path.removingPercentEncoding, !name.isEmpty else { return nil }
            self.name = name.hasSuffix(".wacz") ? String(name.dropLast(5)) : name
            isForReplay = query?.split(separator: "&").contains("view=replay") ?? false
        }
    }
    private struct OpenPackage {
        let indexed: IndexedArchive
        var usedAt: ContinuousClock.Instant
        /// When the index files were last found to be unchanged.
        var checkedAt: ContinuousClock.Instant

        var isDeleted: Bool {
            (indexed.wacz.source as? FileByteSource).map { OpenArchives.isDeleted($0.descriptor) } == true
        }
    }
    /// Identifies the files that a package was opened from. Another process may rewrite its index files.
    private struct PackageStamp: Equatable {
        let storage: ArchiveStorage
        let showsUncovered: Bool
        let lookups: ArchiveLookups?
        let indexFiles: [String?]

        init(_ archive: Archive, _ layout: StoreLayout) {
            (storage, showsUncovered, lookups) = (archive.storage, archive.showsUncovered, archive.lookups)
            indexFiles = (lookups?.files ?? []).map { StoreDocument.stamp(of: layout.derived($0, key: archive.key)) }
        }
    }
    /// The state of a package that is kept after closing it. The lock is held while opening it.
    private final class KnownPackage: Sendable {
        let last = Mutex<(stamp: PackageStamp, fault: IndexFault)?>(nil)
    }
    private struct State {
        var files: [Request: CachedFile] = [:]
        /// By the archive's key.
        var packages: [String: OpenPackage] = [:]
        /// All packages that were opened since the start, by the archive's key.
        var known: [String: KnownPackage] = [:]
    }
    private let state = Mutex(State())
    private let packagesMax: Int
    private let bytesMax: Int
    private let recheckInterval: Duration

    /// - Parameters:
    ///   - packagesMax: The maximum number of open packages; each has up to three descriptors.
    ///   - bytesMax: The memory that open packages take at most, with the parts of indexes that are kept.
    ///   - recheckInterval: How long a cached file is used without checking the catalog and its index files.
    init(
        layout: StoreLayout, catalog: Catalog, packagesMax: Int = 128, bytesMax: Int = 48 << 20,
        recheckInterval: Duration = .seconds(1)
    ) {
        self.layout = layout
        self.catalog = catalog
        self.packagesMax = packagesMax
        self.bytesMax = bytesMax
        self.recheckInterval = recheckInterval
    }

    /// Returns the file for a request if it was checked less than a second ago. Never blocks.
    package func recentFile(for request: Request) -> OpenArchiveFile? {
        state.withLock { state in
            guard let cached = state.files[request], cached.checkedAt.duration(to: .now) < recheckInterval else {
                return nil
            }
            // Linked files can change at any time.
            return cached.file.archive.storage.isLinked ? nil : cached.file
        }
    }

    /// Returns the file for a request, opened if necessary; `nil` if there is no such archive.
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
                tail: request.isForReplay ? shared(archive).wacz.simplifiedDirectory() : nil)
        }
        state.withLock { state in
            state.files[request] = CachedFile(file: file, checkedAt: .now)
            state.files.evict(
                to: Self.filesMax, costMax: Self.tailBytesMax, keeping: request, cost: \.file.tailBytes,
                usedAt: \.checkedAt)
        }
        return file
    }

    /// Returns the opened package of an archive.
    package func wacz(of archive: Archive, _ allowances: Allowances) throws -> WACZFile {
        try lookups(archive, allowances).wacz
    }

    /// Returns the opened package of an archive, with its indexes.
    ///
    /// - Parameter allowances: Those of the step, charged with what reading the archive costs.
    /// - Throws: `WebArchiveError` from `WACZFile.open`; `StoreError` `unavailable` or `changed` for a linked file,
    ///   `notFound` for an archive that is being removed.
    package func lookups(_ archive: Archive, _ allowances: Allowances) throws -> IndexedArchive {
        var indexed = try shared(archive)
        indexed.wacz = indexed.wacz.charging(allowances[archive])
        return indexed
    }

    private func shared(_ archive: Archive) throws -> IndexedArchive {
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
            // Another thread may have just opened it.
            if let open = recentPackage(archive) { return open }
            // Read before opening, so that changes meanwhile are noticed next time.
            let stamp = PackageStamp(archive, layout)
            var fault = IndexFault()
            if let last, last.stamp == stamp {
                if let open = recentPackage(archive, isChecked: true) { return open }
                fault = last.fault
            }
            let opened = try open(archive, fault)
            last = (stamp, fault)
            state.withLock { state in
                // If it was released meanwhile, don't cache it.
                guard state.known[archive.key] === known else { return }
                state.packages[archive.key] = OpenPackage(indexed: opened, usedAt: .now, checkedAt: .now)
                state.packages.evict(
                    to: packagesMax, costMax: bytesMax, keeping: archive.key, cost: \.indexed.byteCount,
                    usedAt: \.usedAt)
            }
            return opened
        }
    }

    /// Returns the package if it is open and matches the archive.
    ///
    /// - Parameter isChecked: Whether its index files were just checked. Otherwise returns `nil` if the last check was
    ///   too long ago.
    private func recentPackage(_ archive: Archive, isChecked: Bool = false) -> IndexedArchive? {
        state.withLock { state in
            guard var open = state.packages[archive.key], open.indexed.archive.lookups == archive.lookups,
                open.indexed.archive.storage == archive.storage,
                open.indexed.archive.showsUncovered == archive.showsUncovered
            else { return nil }
            open.usedAt = .now
            if isChecked { open.checkedAt = open.usedAt }
            guard archive.lookups?.usesSidecar != true || open.checkedAt.duration(to: open.usedAt) <= recheckInterval
            else {
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
            // During a removal, the file is gone before its row.
            guard archive.availability(in: layout) == .missing,
                try Folder.exists(layout.removed(archive.key)) || catalog.archive(key: archive.key) == nil
            else { throw error }
            throw StoreError(.notFound, "the archive was removed", place: archive.id.text)
        }
    }

    /// Returns an archive as a source of an index query.
    ///
    /// - Parameter isOneOfSeveral: Whether to skip the archive if its file is unavailable by then.
    package func querySource(_ archive: Archive, isOneOfSeveral: Bool) -> CDXQuerySource {
        CDXQuerySource(name: archive.id.text) { () throws(WebArchiveError) in
            do {
                return try self.shared(archive).wacz
            } catch {
                if isOneOfSeveral, archive.availability(in: self.layout) != .available { return nil }
                if let error = error as? WebArchiveError { throw error }
                let message = (error as? StoreError)?.what ?? "\(error)"
                throw WebArchiveError(code: .io, problem: message, file: "\(archive.id).wacz")
            }
        }
    }

    /// Closes linked files that haven't been used for a while, so that their drives can be unmounted, deleted files, whose
    /// disk space is only freed then, and packages whose indexes have grown in memory.
    func releaseUnused(now: ContinuousClock.Instant) {
        // Event loops use this lock, and checking a file can take long, so only the lists are read under it.
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
            state.packages.evict(
                to: packagesMax, costMax: bytesMax, keeping: nil, cost: \.indexed.byteCount, usedAt: \.usedAt)
        }
    }

    /// Closes an archive.
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
    /// The maximum size of all simplified directories.
    private static let tailBytesMax = 32 << 20
}

extension Dictionary {
    /// Removes the least recently used values, except that of `key`, until there are at most `countMax` with a total
    /// cost of at most `costMax`.
    fileprivate mutating func evict(
        to countMax: Int, costMax: Int, keeping key: Key?, cost: (Value) -> Int,
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
