import Foundation
import GRDB
import WebArchive

// Rows are decoded, so that a value of the wrong type in a damaged catalog throws `RowDecodingError`. The subscripts of
// `Row` would crash.

/// A row that is read and written. Times are RFC 3339 texts with microseconds, so that they sort.
protocol CatalogRecord: Codable, FetchableRecord, PersistableRecord {}

extension CatalogRecord {
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .custom { RFC3339.preciseText(of: $0) }
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .custom { String.fromDatabaseValue($0).flatMap(RFC3339.date) }
    }
}

/// A row of the table `finding`.
struct FindingRow: Decodable, FetchableRecord {
    let severity: String
    let code: String
    let what: String
    let location: String
    let consequence: String
    let urls: [String]?
    let urlCount: Int?
    let total: Int?

    var finding: Finding {
        Finding(
            severity: Finding.Severity(rawValue: severity) ?? .error, code: code, what: what, location: location,
            consequence: consequence, urls: urls ?? [],
            urlCount: urlCount ?? 0, total: total)
    }
}

/// A row of the table `page`, or a detected page.
struct PageRow: Decodable, FetchableRecord {
    let position: Int
    let list: String
    let url: String
    let timestamp: String?
    let title: String?
    let copies: Int?

    var page: ArchivePage {
        ArchivePage(position: position, list: list, url: url, timestamp: timestamp, title: title, copies: copies)
    }
}

/// How an archive is named.
struct ArchiveName: FetchableRecord, Sendable {
    let key: String
    let id: ArchiveID
    let title: String
    let originalName: String

    static let columns = "key, id, title, originalName"

    /// By the places of the columns, as for `KnownFile`.
    init(row: Row) {
        key = row[0]
        id = row[1]
        title = row[2]
        originalName = row[3]
    }
}

/// A row of the table `archiveCollection`.
struct CollectionRow: CatalogRecord {
    static let databaseTableName = "archiveCollection"

    let id: ArchiveID
    let title: String
    let notes: String
    let tags: [String]
    let createdAt: Date
    let originalName: String?
    let port: Int?
    /// The version of the document that the row matches.
    let documentStamp: String?

    init(_ collection: ArchiveCollection, documentStamp: String?) {
        (id, title, notes, tags) = (collection.id, collection.title, collection.notes, collection.tags)
        (createdAt, originalName, port) = (collection.createdAt, collection.originalName, collection.port)
        self.documentStamp = documentStamp
    }

    func collection(members: [ArchiveID]) -> ArchiveCollection {
        ArchiveCollection(
            id: id, title: title, notes: notes, tags: tags, members: members, createdAt: createdAt,
            originalName: originalName, port: port)
    }
}

/// A row of the table `job`.
struct JobRow: Decodable, FetchableRecord {
    let id: Int64
    let kind: String
    let subject: String
    let archiveID: String?
    let options: String
    let state: String
    let reason: String?
    let errorCode: String?
    let done: Int64
    let total: Int64?
    let attempt: Int
    let crashCount: Int
    let revision: Int
    let createdAt: String
    let startedAt: String?
    let updatedAt: String
    let finishedAt: String?

    /// The job; `nil` for a kind or state that this version doesn't know.
    var job: Job? {
        guard let kind = Job.Kind(rawValue: kind), let state = Job.State(rawValue: state),
            let createdAt = RFC3339.date(createdAt), let updatedAt = RFC3339.date(updatedAt)
        else { return nil }
        return Job(
            id: id, kind: kind, subject: subject, archiveID: archiveID.flatMap { ArchiveID($0) }, state: state,
            reason: reason, errorCode: errorCode, done: UInt64(clamping: done),
            total: total.map { UInt64(clamping: $0) },
            attempt: attempt, createdAt: createdAt, startedAt: startedAt.flatMap(RFC3339.date), updatedAt: updatedAt,
            finishedAt: finishedAt.flatMap(RFC3339.date), isRepeatable: isRepeatable, revision: revision)
    }

    /// Whether the job can be started again: whether its file can be read again.
    var isRepeatable: Bool { kind != Job.Kind.import.rawValue || ImportOrder(json: options)?.path != nil }
}

/// What the catalog knows of an archive's files.
struct KnownFile: FetchableRecord {
    let key: String
    /// The version of the sidecar that the catalog matches; `nil` for one that it has never read.
    let sidecarStamp: String?
    let isLinked: Bool
    /// `nil` for an archive that hasn't been prepared for lookups.
    let lookups: ArchiveLookups?

    static let columns = "key, sidecarStamp, storage = 'linked', lookups"

    /// By the places of the columns, since all archives are read: `Decodable` takes several times as long.
    init(row: Row) {
        key = row[0]
        sidecarStamp = row[1]
        isLinked = row[2]
        let strategy = (row[3] as String?).flatMap(ArchiveLookups.IndexStrategy.init)
        lookups = strategy.map { ArchiveLookups(strategy: $0) }
    }
}

/// A key and the version of its document that the catalog matches.
struct StampRow: Decodable, FetchableRecord {
    let key: String
    let stamp: String?
}

/// A row of the table `revision`.
struct RevisionRow: Decodable, FetchableRecord {
    let subject: String
    let number: Int
}

/// The port of an archive or a collection.
struct PortRow: Decodable, FetchableRecord {
    let id: String
    let port: Int

    static let query = """
        SELECT id, port FROM archive WHERE port IS NOT NULL UNION ALL
        SELECT id, port FROM archiveCollection WHERE port IS NOT NULL ORDER BY id
        """
}
