import Crypto
import Foundation
import GRDB
import Synchronization
import WebArchive

/// The filters of all archives: which of them can have captures of a URL is known without opening them.
///
/// A filter is a sorted list of `CaptureHashes`, in the catalog's table `captureFilter`. An archive without one, or whose
/// filter is damaged or belongs to another file, is always asked.
final class CaptureFilters: Sendable {
    /// Identifies the file that a filter was made of, and the way in which it was made.
    private struct Stamp: Equatable {
        let version: Int
        let size: UInt64
        let modifiedAt: Int64

        /// A key changes when a linked file is hashed, so it isn't part of it.
        init(_ archive: Archive) {
            version = Self.version
            size = archive.size
            modifiedAt = archive.storage.linkedFile?.modifiedAtNanoseconds ?? 0
        }

        init?(_ text: String) {
            let parts = text.split(separator: " ")
            guard parts.count == 3, let version = Int(parts[0]), let size = UInt64(parts[1]),
                let modifiedAt = Int64(parts[2])
            else { return nil }
            (self.version, self.size, self.modifiedAt) = (version, size, modifiedAt)
        }

        static let version = 1

        var text: String { "\(version) \(size) \(modifiedAt)" }
    }

    private struct Filter {
        let stamp: Stamp
        /// In ascending order.
        let hashes: [UInt32]
    }

    /// A row of the table `captureFilter`.
    private struct Row: Decodable, FetchableRecord {
        let revision: Int64
        let archiveKey: String
        let stamp: String
        let checksum: Int64
        let hashes: Data?

        /// `nil` if it's damaged.
        var filter: Filter? {
            guard let stamp = Stamp(stamp), let hashes else { return nil }
            let isIntact = CaptureFilters.checksum(of: hashes, stamp.text, archiveKey) == checksum
            return isIntact ? CaptureFilters.decoded(hashes).map { Filter(stamp: stamp, hashes: $0) } : nil
        }
    }

    private struct State {
        /// The highest revision that was read.
        var revision: Int64 = 0
        /// By the archive's key.
        var filters: [String: Filter] = [:]
        /// The archives whose filters are damaged or don't fit in memory.
        var unusable: Set<String> = []
        /// The stamps that the missing filters will have, by the archives' keys.
        var missing: [String: String] = [:]
        /// The counter of changes of files when the missing filters were listed.
        var fileRevision: Int64 = -1
        /// The number of all their hashes.
        var count = 0
    }

    private let catalog: Catalog
    private let state = Mutex(State())

    init(catalog: Catalog) {
        self.catalog = catalog
    }

    /// Returns the archives that can have an entry with one of some hashes, in their order.
    ///
    /// - Parameter hashes: `nil` if they aren't known.
    func archives(_ archives: [Archive], mayHave hashes: [UInt32]?) throws -> [Archive] {
        guard let hashes, archives.count > 1 else { return archives }
        try readNew()
        return state.withLock { state in
            archives.filter { archive in
                guard let filter = state.filters[archive.key], filter.stamp == Stamp(archive) else { return true }
                return hashes.contains { filter.hashes.hasSorted($0) }
            }
        }
    }

    /// Returns the archives of the library that can have an entry with one of some hashes, newest import first.
    ///
    /// - Parameter hashes: `nil` if they aren't known.
    func libraryArchives(mayHave hashes: [UInt32]?) throws -> [ArchiveTimes] {
        guard let hashes else { return try catalog.times() }
        try readNew()
        let chosen = state.withLock { state in
            let matching = state.filters.compactMap { key, filter in
                hashes.contains { filter.hashes.hasSorted($0) } ? key : nil
            }
            return matching + state.unusable + state.missing.keys
        }
        return try catalog.times(chosen)
    }

    /// Reads the filters that were made since the last time and, if files have changed, lists those that are missing.
    private func readNew() throws {
        let known = state.withLock { (revision: $0.revision, fileRevision: $0.fileRevision) }
        let (fileRevision, rows, missing) = try catalog.reading { database in
            let fileRevision = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT number FROM revision WHERE subject = 'files'"))
            let rows = try Row.fetchAll(
                database.cachedStatement(sql: "SELECT * FROM captureFilter WHERE revision > ? ORDER BY revision"),
                arguments: [known.revision])
            let missing =
                fileRevision == known.fileRevision
                ? nil : try MissingFilter.fetchAll(database, sql: MissingFilter.all, arguments: ["\(Stamp.version) "])
            return (fileRevision ?? 0, rows, missing)
        }
        guard !rows.isEmpty || missing != nil else { return }
        state.withLock { state in
            if let missing, fileRevision > state.fileRevision {
                state.fileRevision = fileRevision
                state.missing = Dictionary(missing.map { ($0.key, $0.stamp) }) { $1 }
            }
            // Another thread may have read later ones.
            for row in rows where row.revision > state.revision {
                state.revision = row.revision
                state.count -= state.filters.removeValue(forKey: row.archiveKey)?.hashes.count ?? 0
                if state.missing[row.archiveKey] == row.stamp { state.missing[row.archiveKey] = nil }
                guard let filter = row.filter, state.count + filter.hashes.count <= Self.hashesMax else {
                    state.unusable.insert(row.archiveKey)
                    continue
                }
                state.unusable.remove(row.archiveKey)
                state.filters[row.archiveKey] = filter
                state.count += filter.hashes.count
            }
        }
    }

    // Making filters ----------------------------------------------------------------------------------------------

    /// Makes the filter of an archive, unless it has one. Reads the whole index.
    ///
    /// - Throws: `WebArchiveError` `cancelled` or `io`; the errors of opening the archive.
    func make(for archive: Archive, _ check: CancellationCheck, open: () throws -> WACZFile) throws {
        let stamp = Stamp(archive).text
        let made = try catalog.reading {
            try Row.fetchOne($0, sql: "SELECT * FROM captureFilter WHERE archiveKey = ?", arguments: [archive.key])
        }
        if let made, made.stamp == stamp, made.hashes == nil || made.filter != nil { return }
        let hashes = try Self.hashes(of: open, check)
        let data = hashes.map(Self.encoded)
        try catalog.writing { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO captureFilter (archiveKey, stamp, checksum, hashes)
                    SELECT key, :stamp, :checksum, :hashes FROM archive WHERE key = :key
                    """,
                arguments: [
                    "key": archive.key, "stamp": stamp,
                    "checksum": data.map { Self.checksum(of: $0, stamp, archive.key) } ?? 0, "hashes": data,
                ])
        }
    }

    /// Returns the hashes of all entries; `nil` if there are too many, or if the index is damaged.
    private static func hashes(of open: () throws -> WACZFile, _ check: CancellationCheck) throws -> [UInt32]? {
        var hashes = CaptureHashes(countMax: countMax)
        do {
            let reader = try open().makeCaptureReader()
            var count = 0
            while let (entry, _) = try reader.next() {
                count += 1
                if count.isMultiple(of: 1024) { try check.now() }
                guard hashes.add(entry) else { return nil }
            }
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            return nil
        }
        return hashes.sorted()
    }

    private static func encoded(_ hashes: [UInt32]) -> Data {
        var data = Data(capacity: 4 * hashes.count)
        for hash in hashes { withUnsafeBytes(of: hash.littleEndian) { data.append(contentsOf: $0) } }
        return data
    }

    private static func decoded(_ data: Data) -> [UInt32]? {
        guard data.count.isMultiple(of: 4) else { return nil }
        return data.withUnsafeBytes { bytes in
            (0..<data.count / 4).map {
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
            }
        }
    }

    private static func checksum(of hashes: Data, _ stamp: String, _ key: String) -> Int64 {
        let digest = SHA256.hash(data: Data("\(key) \(stamp) ".utf8) + hashes)
        return digest.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    }

    /// The number of hashes of a filter. An archive with more is asked.
    private static let countMax = 4_000_000
    /// The number of hashes that are kept in memory, of 4 bytes each.
    private static let hashesMax = 32 << 20
}

extension [UInt32] {
    /// Returns whether a list in ascending order contains a value.
    fileprivate func hasSorted(_ value: UInt32) -> Bool {
        let place = withUnsafeBufferPointer { $0.partition { $0 >= value } }
        return place < count && self[place] == value
    }
}

extension ArchiveTimes: FetchableRecord {
    fileprivate static let columns = """
        SELECT key, firstCapture, lastCapture, json_extract(findings, '$.error') > 0 AS hasErrors FROM archive
        """
    fileprivate static let order = "ORDER BY importedAt DESC, id DESC"
}

extension Catalog {
    fileprivate func times() throws -> [ArchiveTimes] {
        try reading {
            try ArchiveTimes.fetchAll($0.cachedStatement(sql: "\(ArchiveTimes.columns) \(ArchiveTimes.order)"))
        }
    }

    /// Returns archives by key, newest import first.
    fileprivate func times(_ keys: [String]) throws -> [ArchiveTimes] {
        guard !keys.isEmpty else { return [] }
        let list = String(decoding: try JSONText.encoded(keys), as: UTF8.self)
        let sql = "\(ArchiveTimes.columns) WHERE key IN (SELECT value FROM json_each(?)) \(ArchiveTimes.order)"
        return try reading { try ArchiveTimes.fetchAll($0.cachedStatement(sql: sql), arguments: [list]) }
    }
}

/// An archive that has no filter of its present file.
private struct MissingFilter: Decodable, FetchableRecord {
    let key: String
    /// The stamp that its filter will have.
    let stamp: String

    /// The argument is the start of the stamps.
    static let all = """
        SELECT key, wanted AS stamp FROM (SELECT key, ? || size || ' ' || coalesce(linkedModifiedAt, 0) AS wanted FROM archive)
        LEFT JOIN captureFilter ON archiveKey = key WHERE archiveKey IS NULL OR captureFilter.stamp != wanted
        """
}
