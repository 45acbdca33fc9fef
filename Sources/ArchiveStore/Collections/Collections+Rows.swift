import Foundation
import GRDB

extension Collections {
    /// Returns all collections, newest first.
    package func all() throws -> [ArchiveCollection] {
        try collections(where: "ORDER BY createdAt DESC, id DESC", [])
    }

    package func collection(id: ArchiveID) throws -> ArchiveCollection? {
        try collections(where: "WHERE id = ?", [id]).first
    }

    /// Returns the collections that contain an archive, by id.
    package func collections(of member: ArchiveID) throws -> [ArchiveCollection] {
        try collections(
            where: "WHERE id IN (SELECT collectionID FROM collectionMember WHERE archiveID = ?) ORDER BY id", [member])
    }

    /// Returns the collections that have members which aren't in the library.
    func withLostMembers() throws -> [ArchiveCollection] {
        try collections(
            where: """
                WHERE id IN (
                    SELECT collectionID FROM collectionMember
                    WHERE NOT EXISTS (SELECT 1 FROM archive WHERE archive.id = collectionMember.archiveID))
                ORDER BY createdAt DESC, id DESC
                """, [])
    }

    /// Returns the ids and titles of all collections.
    func names() throws -> [NameLookup.Name] {
        try catalog.reading { try NameLookup.Name.fetchAll($0, sql: "SELECT id, title FROM archiveCollection") }
    }

    /// Returns the members of a collection that are in the library, in the collection's order.
    package func members(of collection: ArchiveCollection) throws -> [Archive] {
        try known(collection.id)?.members ?? []
    }

    /// Returns a collection with its members in the library.
    package func replayable(id: ArchiveID) throws -> Replayable? {
        try known(id).map { .collection($0.collection, $0.members) }
    }

    /// Returns a collection with its members, which are only read if the catalog has changed.
    private func known(_ id: ArchiveID) throws -> (collection: ArchiveCollection, members: [Archive])? {
        try store.collectionCache.collection(id: id, revision: catalog.revision().archives) {
            try collection(id: id).map { ($0, try readMembers(of: $0)) }
        }
    }

    private func readMembers(of collection: ArchiveCollection) throws -> [Archive] {
        let sql = """
            SELECT archive.* FROM collectionMember JOIN archive ON archive.id = collectionMember.archiveID
            WHERE collectionID = ? ORDER BY collectionMember.position
            """
        return try catalog.archives(sql: sql, [collection.id])
    }

    /// Returns pages of all members of a collection, member by member: the order is that within a member.
    package func pages(of collection: ArchiveCollection, _ request: PageListRequest) throws -> PageList {
        var list = PageList(total: 0, pages: [])
        for member in try members(of: collection) {
            var part = request
            part.offset = max(0, request.offset - list.total)
            part.limit = request.limit - list.pages.count
            let found = try store.pages(of: member, part)
            list.total += found.total
            list.pages += found.pages.map { page in
                var page = page
                page.archiveID = member.id
                return page
            }
        }
        return list
    }

    /// Saves a collection in the catalog, as its document describes it.
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

    /// Returns the version of each collection's document that the catalog matches, by id.
    func stamps() throws -> [String: String?] {
        let sql = "SELECT id AS key, documentStamp AS stamp FROM archiveCollection"
        let rows = try catalog.reading { try StampRow.fetchAll($0, sql: sql) }
        // A damaged table can contain a key twice.
        return Dictionary(rows.map { ($0.key, $0.stamp) }) { $1 }
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
