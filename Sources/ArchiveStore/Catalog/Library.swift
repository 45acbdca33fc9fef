import Foundation
import GRDB
import WebArchive

/// The archives of a store, as lists show them.
package struct Library: Sendable {
    let store: ArchiveStore

    private var catalog: Catalog { store.catalog }

    /// A part of a list of archives.
    package struct Part: Sendable {
        /// The number of archives that match.
        package let total: Int
        package let archives: [LibraryItem]
    }

    /// Returns a part of the archives that match.
    package func archives(
        _ filter: LibraryFilter, sortedBy order: LibraryOrder, offset: Int, limit: Int
    ) throws -> Part {
        let condition = LibraryCondition(
            filter, unavailable: try filter.states.subtracting([.issues]).isEmpty ? "[]" : unavailable())
        let found = try catalog.reading { database in
            let keys = try KeyRow.fetchAll(
                database, sql: Self.keysSQL(condition, order),
                arguments: condition.arguments + [limit, offset])
            let total =
                if condition.isForAll || keys.isEmpty {
                    try Int.fetchOne(
                        database, sql: "SELECT count(*) FROM archive WHERE \(condition.sql)",
                        arguments: condition.arguments) ?? 0
                } else {
                    keys[0].total
                }
            return (total, try LibraryRows(keys.map(\.key), database))
        }
        return Part(total: found.0, archives: found.1.items(in: store.layout))
    }

    private struct KeyRow: Decodable, FetchableRecord {
        let key: String
        let total: Int
    }

    /// Returns a query for a part of the archives that match. Its last arguments are the limit and the offset.
    ///
    /// Searching for words takes longest, so the archives are counted and sorted in one pass. Without a condition, only the
    /// part is read.
    static func keysSQL(_ condition: LibraryCondition, _ order: LibraryOrder) -> String {
        """
        SELECT key, \(condition.isForAll ? "0" : "count(*) OVER ()") AS total FROM archive
        WHERE \(condition.sql) ORDER BY \(order.sql) LIMIT ? OFFSET ?
        """
    }

    /// Counts the archives that match.
    package func facets(_ filter: LibraryFilter) throws -> LibraryFacets {
        let unavailable = try unavailable()
        let condition = LibraryCondition(filter, unavailable: unavailable)
        return try catalog.reading { database in
            try LibraryFacets(condition, unavailable: unavailable, database, freeBytes: try? store.freeBytes())
        }
    }

    private struct LinkedRow: Decodable, FetchableRecord {
        let key: String
        let linkedPath: String
        let linkedModifiedAt: Int64
        let size: UInt64
    }

    /// Returns the keys of the linked archives whose file can't be read, as a JSON array.
    private func unavailable() throws -> String {
        let sql = "SELECT key, linkedPath, linkedModifiedAt, size FROM archive WHERE linkedPath IS NOT NULL"
        let rows = try catalog.reading { try LinkedRow.fetchAll($0, sql: sql) }
        let keys = rows.filter { row in
            FileReference(path: row.linkedPath, size: row.size, modifiedAtNanoseconds: row.linkedModifiedAt)
                .availability != .available
        }.map(\.key)
        return try JSONText.text(keys)
    }
}

/// The rows of a part of a list.
struct LibraryRows {
    private let rows: [Row]
    private let sites: [String: [String]]
    private let collections: [ArchiveID: [ArchiveID]]
    /// The number of archives that were saved from a URL.
    private let savedTimes: [String: Int]

    private struct Row: Decodable, FetchableRecord {
        let archive: Archive
        let siteCount: Int?
        let thumbnail: String?

        private enum CodingKeys: String, CodingKey {
            case siteCount, thumbnail
        }

        init(from decoder: any Decoder) throws {
            archive = try ArchiveRecord(from: decoder).archive
            let row = try decoder.container(keyedBy: CodingKeys.self)
            siteCount = try row.decodeIfPresent(Int.self, forKey: .siteCount)
            thumbnail = try row.decodeIfPresent(String.self, forKey: .thumbnail)
        }
    }

    private struct SiteRow: Decodable, FetchableRecord {
        let archiveKey: String
        let host: String
    }

    private struct SavedRow: Decodable, FetchableRecord {
        let url: String
        let times: Int
    }

    private struct MemberRow: Decodable, FetchableRecord {
        let archiveID: ArchiveID
        let collectionID: ArchiveID
    }

    /// Reads the archives with these keys, and keeps their order.
    init(_ keys: [String], _ database: Database) throws {
        let list = try JSONText.text(keys)
        let listed = "IN (SELECT value FROM json_each(?))"
        let found = try Row.fetchAll(
            database, sql: "SELECT * FROM archive WHERE key \(listed)", arguments: [list])
        let byKey = Dictionary(found.map { ($0.archive.key, $0) }) { $1 }
        rows = keys.compactMap { byKey[$0] }
        let siteRows = try SiteRow.fetchAll(
            database,
            sql: """
                SELECT archiveKey, host FROM (
                    SELECT *, row_number() OVER (PARTITION BY archiveKey ORDER BY captures DESC, host) AS place
                    FROM archiveSite WHERE archiveKey \(listed))
                WHERE place <= \(LibraryItem.sitesMax) ORDER BY archiveKey, place
                """, arguments: [list])
        sites = Dictionary(grouping: siteRows, by: \.archiveKey).mapValues { $0.map(\.host) }
        let members = try MemberRow.fetchAll(
            database,
            sql: """
                SELECT archiveID, collectionID FROM collectionMember
                WHERE archiveID IN (SELECT id FROM archive WHERE key \(listed)) ORDER BY collectionID
                """, arguments: [list])
        collections = Dictionary(grouping: members, by: \.archiveID).mapValues { $0.map(\.collectionID) }
        let urls = Set(rows.compactMap { $0.archive.saved?.url })
        let saved =
            urls.isEmpty
            ? []
            : try SavedRow.fetchAll(
                database,
                sql: """
                    SELECT \(LibraryCondition.savedURL) AS url, count(*) AS times FROM archive
                    WHERE saved IS NOT NULL AND url IN (SELECT value FROM json_each(?)) GROUP BY url
                    """, arguments: [try JSONText.text(urls.sorted())])
        savedTimes = Dictionary(saved.map { ($0.url, $0.times) }) { $1 }
    }

    /// Looks at the archives' files.
    func items(in layout: StoreLayout) -> [LibraryItem] {
        rows.map { row in
            let sites = sites[row.archive.key] ?? []
            let observed = row.archive.observed(in: layout)
            return LibraryItem(
                archive: observed.archive, availability: observed.availability, sites: sites,
                siteCount: row.siteCount ?? sites.count, collections: collections[row.archive.id] ?? [],
                hasThumbnail: row.thumbnail?.isEmpty == false,
                savedTimes: row.archive.saved.flatMap { savedTimes[$0.url] })
        }
    }
}
