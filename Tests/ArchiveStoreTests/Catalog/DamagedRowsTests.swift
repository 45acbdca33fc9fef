import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// Rows of a damaged catalog can contain anything. They throw an error and never crash the server.
struct DamagedRowsTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        /// Replaces a table with one that can contain anything.
        let sql: String
        let look: @Sendable (ArchiveStore) throws -> Void
        var testDescription: String { String(sql.prefix(60)) }
    }

    private static let job = """
        DROP TABLE job; CREATE TABLE job (id, kind, subject, archiveID, options, state, reason, errorCode, done, total, attempt,
            crashCount, owner, createdAt, startedAt, updatedAt, finishedAt, revision);
        """

    @Test(arguments: [
        Damage(
            sql: "DROP TABLE revision; CREATE TABLE revision (subject, number); INSERT INTO revision VALUES (NULL, 1)"
        ) {
            _ = try $0.catalog.revision()
        },
        Damage(sql: "\(job) INSERT INTO job (id, kind, state) VALUES (1, 'verify', 'waiting')") {
            _ = try $0.jobs.all(in: nil, limit: 9)
        },
        Damage(
            sql:
                "DROP TABLE collectionMember; DROP TABLE archiveCollection; CREATE TABLE archiveCollection (id, documentStamp); "
                + "INSERT INTO archiveCollection VALUES (NULL, NULL)"
        ) { _ = try $0.collections.stamps() },
        Damage(
            sql: "DROP TABLE finding; CREATE TABLE finding (archiveKey, position, severity, code); "
                + "INSERT INTO finding VALUES ('k', 0, NULL, NULL)"
        ) { _ = try $0.catalog.findings(key: "k") },
    ])
    func damagedRowsThrowCatalogDamaged(_ damage: Damage) throws {
        let test = try TestStore()
        try test.store.catalog.writing { database in
            try database.execute(sql: "PRAGMA defer_foreign_keys = ON; \(damage.sql)")
        }
        #expect(code { try damage.look(test.store) } == .catalogDamaged)
    }

    /// A damaged catalog can have two rows with the same key. One is used.
    @Test func duplicateKeyDoesNotCrash() throws {
        let test = try TestStore()
        try test.store.catalog.writing { database in
            try database.execute(
                sql: """
                    DROP TABLE revision; CREATE TABLE revision (subject, number);
                    INSERT INTO revision VALUES ('jobs', 1), ('jobs', 2), ('archives', 3)
                    """)
        }
        #expect(try test.store.catalog.revision() == CatalogRevision(archives: 3, jobs: 2, files: 0))
    }

    /// The largest numbers of a column in each archive: totals stay valid in JSON, and a backup has no space.
    @Test func overflowingNumbersDoNotCrash() throws {
        let made = try BackedUpStore()
        let members = try (1...3).map { try made.add("Crawl \($0)", seed: UInt64($0)).id }
        let collection = try made.store.collections.make(title: "All", members: members)
        try made.store.catalog.writing { database in
            try database.execute(
                sql: """
                    UPDATE archive SET size = 9223372036854775807, captureCount = 9223372036854775807,
                        pageCount = 9223372036854775807
                    """)
        }
        let details = try made.store.collections.details(of: collection)
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(details)) as? [String: Any]
        #expect(json?["size"] as? UInt64 == .max)
        #expect(json?["captureCount"] as? Int == .max)
        #expect(throws: StoreError.self) { try made.store.backUp(to: made.folder) }
    }
}
