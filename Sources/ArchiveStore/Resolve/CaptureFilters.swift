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

        init(_ row: ArchiveRow) {
            version = Self.version
            size = row.size
            modifiedAt = row.linkedModifiedAt ?? 0
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
    private struct FilterRow: FetchableRecord {
        let revision: Int64
        let archiveKey: String
        let stamp: String
        let checksum: Int64
        let hashes: Data?

        static let columns = "revision, archiveKey, stamp, checksum, hashes"

        /// By the places of the columns: `Decodable` takes several times as long, and each process reads all filters.
        init(row: Row) {
            revision = row[0]
            archiveKey = row[1]
            stamp = row[2]
            checksum = row[3]
            hashes = row[4]
        }

        /// `nil` if it's damaged.
        var filter: Filter? {
            guard let stamp = Stamp(stamp), let hashes else { return nil }
            let isIntact = CaptureFilters.checksum(of: hashes, stamp.text, archiveKey) == checksum
            return isIntact ? CaptureFilters.decoded(hashes).map { Filter(stamp: stamp, hashes: $0) } : nil
        }
    }

    /// An archive of the library, with the hashes of its filter; `nil` without a filter of its present file.
    private struct Known {
        let row: ArchiveRow
        var hashes: [UInt32]?
    }

    private struct State {
        /// The highest revision of a filter that was read.
        var revision: Int64 = 0
        /// By the archive's key. Those that are damaged or don't fit in memory are missing.
        var filters: [String: Filter] = [:]
        /// The number of all their hashes.
        var count = 0
        /// The counter of changes of files when the archives were read.
        var fileRevision: Int64 = -1
        /// All archives, newest import first.
        var archives: [Known] = []

        /// - Parameter filter: `nil` if it's damaged.
        mutating func set(_ filter: Filter?, of key: String) {
            count -= filters.removeValue(forKey: key)?.hashes.count ?? 0
            guard let filter, count + filter.hashes.count <= CaptureFilters.hashesMax else { return }
            filters[key] = filter
            count += filter.hashes.count
        }

        mutating func forgetRemovedArchives() {
            let keys = Set(archives.map(\.row.times.key))
            filters = filters.filter { keys.contains($0.key) }
            count = filters.values.reduce(0) { $0 + $1.hashes.count }
        }
    }

    private let catalog: Catalog
    private let state = Mutex(State())

    init(catalog: Catalog) {
        self.catalog = catalog
    }

    /// Returns the archives that can have an entry with one of some hashes, in their order.
    ///
    /// - Parameter hashes: `nil` if they aren't known.
    func archives(_ archives: [Archive], mayHave hashes: @autoclosure () -> [UInt32]?) throws -> [Archive] {
        guard archives.count > 1, let hashes = hashes() else { return archives }
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
        try readNew()
        return state.withLock { state in
            state.archives.lazy.filter { archive in
                guard let hashes, let own = archive.hashes else { return true }
                return hashes.contains { own.hasSorted($0) }
            }.map(\.row.times)
        }
    }

    /// Reads the filters that were made since the last time and, if files have changed, the list of all archives.
    private func readNew() throws {
        let known = state.withLock { (revision: $0.revision, fileRevision: $0.fileRevision) }
        let (fileRevision, filters, archives) = try catalog.reading { database in
            let fileRevision =
                try Int64.fetchOne(
                    database.cachedStatement(sql: "SELECT number FROM revision WHERE subject = 'files'")) ?? 0
            let rows = try FilterRow.fetchCursor(
                database.cachedStatement(
                    sql: "SELECT \(FilterRow.columns) FROM captureFilter WHERE revision > ? ORDER BY revision"),
                arguments: [known.revision])
            // One by one: together, their rows take as much memory again.
            var filters: [(revision: Int64, key: String, filter: Filter?)] = []
            while let row = try rows.next() { filters.append((row.revision, row.archiveKey, row.filter)) }
            let archives = fileRevision == known.fileRevision ? nil : try ArchiveRow.all(database)
            return (fileRevision, filters, archives)
        }
        guard !filters.isEmpty || archives != nil else { return }
        state.withLock { state in
            if let archives, fileRevision > state.fileRevision {
                state.fileRevision = fileRevision
                state.archives = archives.map { Known(row: $0) }
                state.forgetRemovedArchives()
            }
            // Another thread may have read later ones.
            for (revision, key, filter) in filters where revision > state.revision {
                state.revision = revision
                state.set(filter, of: key)
            }
            for index in state.archives.indices {
                let row = state.archives[index].row
                let filter = state.filters[row.times.key]
                state.archives[index].hashes = filter?.stamp == Stamp(row) ? filter?.hashes : nil
            }
        }
    }

    /// Deletes the filters that are damaged, so that a job makes them again, and counts those that are missing then.
    func repair() throws -> (damaged: Int, missing: Int) {
        try catalog.writing { database in
            var damaged: [String] = []
            let rows = try FilterRow.fetchCursor(
                database, sql: "SELECT \(FilterRow.columns) FROM captureFilter WHERE hashes IS NOT NULL")
            while let row = try rows.next() { if row.filter == nil { damaged.append(row.archiveKey) } }
            for key in damaged {
                try database.execute(sql: "DELETE FROM captureFilter WHERE archiveKey = ?", arguments: [key])
            }
            let sql = """
                SELECT count(*) FROM archive
                WHERE NOT EXISTS (SELECT 1 FROM captureFilter WHERE archiveKey = archive.key)
                """
            return (damaged.count, try Int.fetchOne(database, sql: sql) ?? 0)
        }
    }

    // Making filters ----------------------------------------------------------------------------------------------

    /// Makes the filter of an archive, unless it has one. Reads the whole index.
    ///
    /// - Throws: `WebArchiveError` `cancelled` or `io`; the errors of opening the archive.
    func make(for archive: Archive, _ check: CancellationCheck, open: () throws -> WACZFile) throws {
        let stamp = Stamp(archive).text
        let made = try catalog.reading {
            try FilterRow.fetchOne(
                $0, sql: "SELECT \(FilterRow.columns) FROM captureFilter WHERE archiveKey = ?",
                arguments: [archive.key])
        }
        if let made, made.stamp == stamp, made.hashes == nil || made.filter != nil { return }
        let hashes = try Self.hashes(of: open, check)
        try catalog.writing { try Self.save(hashes, of: archive, $0) }
    }

    /// Saves the filter of an archive, if the catalog has the archive.
    ///
    /// - Parameter hashes: `nil` if it can't have a filter.
    static func save(_ hashes: [UInt32]?, of archive: Archive, _ database: Database) throws {
        let (stamp, data) = (Stamp(archive).text, hashes.map(encoded))
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO captureFilter (archiveKey, stamp, checksum, hashes)
                SELECT key, :stamp, :checksum, :hashes FROM archive WHERE key = :key
                """,
            arguments: [
                "key": archive.key, "stamp": stamp,
                "checksum": data.map { checksum(of: $0, stamp, archive.key) } ?? 0, "hashes": data,
            ])
    }

    /// Collects the hashes of all entries of an archive.
    struct Hashes {
        /// `nil` if there were too many.
        private var hashes: CaptureHashes? = CaptureHashes(countMax: CaptureFilters.countMax)

        mutating func add(_ entry: CDXJEntry) {
            if hashes?.add(entry) == false { hashes = nil }
        }

        var isFull: Bool { hashes == nil }
        var sorted: [UInt32]? { hashes?.sorted() }
    }

    /// Returns the hashes of all entries; `nil` if there are too many, or if the index is damaged.
    private static func hashes(of open: () throws -> WACZFile, _ check: CancellationCheck) throws -> [UInt32]? {
        var hashes = Hashes()
        do {
            let reader = try open().makeCaptureReader()
            var count = 0
            while let (entry, _) = try reader.next() {
                count += 1
                if count.isMultiple(of: 1024) { try check.now() }
                hashes.add(entry)
                if hashes.isFull { return nil }
            }
        } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
            return nil
        }
        return hashes.sorted
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
    /// Returns whether a list of hashes in ascending order contains one.
    fileprivate func hasSorted(_ value: UInt32) -> Bool {
        withUnsafeBufferPointer { hashes in
            guard let last = hashes.last, value <= last else { return false }
            // Hashes are evenly spread, so its place is near this one. Twice as far at each step, then by halves.
            var (low, high) = (0, hashes.count - 1)
            let guess = Swift.min(Int(UInt64(value) * UInt64(hashes.count) >> 32), high)
            var step = 1
            if hashes[guess] < value {
                low = guess
                while low + step < high, hashes[low + step] < value { (low, step) = (low + step, step * 2) }
                high = Swift.min(low + step, high)
            } else {
                high = guess
                while high - step > low, hashes[high - step] >= value { (high, step) = (high - step, step * 2) }
                low = Swift.max(high - step, low)
            }
            while low < high {
                let middle = (low + high) / 2
                if hashes[middle] < value { low = middle + 1 } else { high = middle }
            }
            return hashes[low] == value
        }
    }
}

/// What the filters need to know of an archive.
private struct ArchiveRow: FetchableRecord {
    let times: ArchiveTimes
    let size: UInt64
    let linkedModifiedAt: Int64?

    /// By the places of the columns, as for `FilterRow`.
    init(row: Row) {
        func time(_ index: Int) -> CaptureTimestamp? {
            (row[index] as String?).flatMap { CaptureTimestamp(digits: $0) }
        }
        times = ArchiveTimes(key: row[0], first: time(3), last: time(4), hasErrors: row[5])
        size = row[1]
        linkedModifiedAt = row[2]
    }

    /// Returns all archives, newest import first.
    static func all(_ database: Database) throws -> [ArchiveRow] {
        let sql = """
            SELECT key, size, linkedModifiedAt, firstCapture, lastCapture, json_extract(findings, '$.error') > 0
            FROM archive ORDER BY importedAt DESC, id DESC
            """
        return try fetchAll(database.cachedStatement(sql: sql))
    }
}
