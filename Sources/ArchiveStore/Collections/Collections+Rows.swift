import Foundation
import GRDB

/// What the catalog has of them.
extension Collections {
    /// All collections, newest first.
    package func all() throws -> [ArchiveCollection] {
        try collections(where: "ORDER BY createdAt DESC, id DESC", [])
    }

    package func collection(id: ArchiveID) throws -> ArchiveCollection? {
        try collections(where: "WHERE id = ?", [id]).first
    }

    /// Those that an archive is in, by id.
    package func collections(of member: ArchiveID) throws -> [ArchiveCollection] {
        try collections(
            where: "WHERE id IN (SELECT collectionID FROM collectionMember WHERE archiveID = ?) ORDER BY id", [member])
    }

    /// Collection ids that start with `prefix`, at most a few.
    func ids(startingWith prefix: String) throws -> [ArchiveID] {
        try catalog.reading { database in
            let sql = "SELECT id FROM archiveCollection WHERE substr(id, 1, length(:p)) = :p ORDER BY id LIMIT 6"
            return try String.fetchAll(database, sql: sql, arguments: ["p": prefix])
        }.compactMap { ArchiveID($0) }
    }

    /// The members of a collection that there are, in its order.
    package func members(of collection: ArchiveCollection) throws -> [Archive] {
        try catalog.reading { database in
            let sql = """
                SELECT archive.* FROM collectionMember JOIN archive ON archive.id = collectionMember.archiveID
                WHERE collectionID = ? ORDER BY collectionMember.position
                """
            return try ArchiveRecord.fetchAll(database, sql: sql, arguments: [collection.id])
        }.map(\.archive)
    }

    /// Pages of all members of a collection: the members in the collection's order, the pages of each in its own.
    package func pages(
        of collection: ArchiveCollection, words: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        try catalog.pages(of: collection, words: words, offset: offset, limit: limit)
    }

    /// Takes over a collection as its document has it.
    func put(_ collection: ArchiveCollection, documentStamp: String?) throws {
        try catalog.writing { database in
            try database.execute(sql: "DELETE FROM archiveCollection WHERE id = ?", arguments: [collection.id])
            try CollectionRow(collection, documentStamp: documentStamp).insert(database)
            for (position, member) in collection.members.enumerated() {
                try database.execute(
                    sql: "INSERT INTO collectionMember VALUES (?, ?, ?)", arguments: [collection.id, position, member])
            }
        }
    }

    func forget(_ id: ArchiveID) throws {
        try catalog.writing { try $0.execute(sql: "DELETE FROM archiveCollection WHERE id = ?", arguments: [id]) }
    }

    /// Which version of each collection's document the catalog agrees with, by id.
    func stamps() throws -> [String: String?] {
        try catalog.reading { database in
            try StampRow.all(database, "SELECT id AS key, documentStamp AS stamp FROM archiveCollection")
        }
    }

    private func collections(where condition: String, _ arguments: StatementArguments) throws -> [ArchiveCollection] {
        try catalog.reading { database in
            try CollectionRow.fetchAll(
                database, sql: "SELECT * FROM archiveCollection \(condition)", arguments: arguments
            ).map {
                let sql = "SELECT archiveID FROM collectionMember WHERE collectionID = ? ORDER BY position"
                return $0.collection(members: try ArchiveID.fetchAll(database, sql: sql, arguments: [$0.id]))
            }
        }
    }
}
