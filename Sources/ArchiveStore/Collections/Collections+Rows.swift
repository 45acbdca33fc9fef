import Foundation
import GRDB

/// What the catalog has of them.
extension Collections {
    /// All groups, newest first.
    package func all() throws -> [ArchiveGroup] {
        try groups(where: "ORDER BY createdAt DESC, id DESC", [])
    }

    package func group(id: ArchiveID) throws -> ArchiveGroup? {
        try groups(where: "WHERE id = ?", [id]).first
    }

    /// Those that an archive is in, by id.
    package func groups(of member: ArchiveID) throws -> [ArchiveGroup] {
        try groups(
            where: "WHERE id IN (SELECT groupID FROM groupMember WHERE archiveID = ?) ORDER BY id", [member])
    }

    /// Group ids that start with `prefix`, at most a few.
    func ids(startingWith prefix: String) throws -> [ArchiveID] {
        try catalog.reading { database in
            let sql = "SELECT id FROM archiveGroup WHERE substr(id, 1, length(:p)) = :p ORDER BY id LIMIT 6"
            return try String.fetchAll(database, sql: sql, arguments: ["p": prefix])
        }.compactMap { ArchiveID($0) }
    }

    /// The members of a group that there are, in its order.
    package func members(of group: ArchiveGroup) throws -> [Archive] {
        try catalog.reading { database in
            let sql = """
                SELECT archive.* FROM groupMember JOIN archive ON archive.id = groupMember.archiveID
                WHERE groupID = ? ORDER BY groupMember.position
                """
            return try ArchiveRecord.fetchAll(database, sql: sql, arguments: [group.id])
        }.map(\.archive)
    }

    /// Pages of all members of a group: the members in the group's order, the pages of each in its own.
    package func pages(
        of group: ArchiveGroup, words: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        try catalog.pages(of: group, words: words, offset: offset, limit: limit)
    }

    /// Takes over a group as its document has it.
    func put(_ group: ArchiveGroup, documentStamp: String?) throws {
        try catalog.writing { database in
            try database.execute(sql: "DELETE FROM archiveGroup WHERE id = ?", arguments: [group.id])
            try GroupRow(group, documentStamp: documentStamp).insert(database)
            for (position, member) in group.members.enumerated() {
                try database.execute(
                    sql: "INSERT INTO groupMember VALUES (?, ?, ?)", arguments: [group.id, position, member])
            }
        }
    }

    func forget(_ id: ArchiveID) throws {
        try catalog.writing { try $0.execute(sql: "DELETE FROM archiveGroup WHERE id = ?", arguments: [id]) }
    }

    /// Which version of each group's document the catalog agrees with, by id.
    func stamps() throws -> [String: String?] {
        try catalog.reading { database in
            try StampRow.all(database, "SELECT id AS key, documentStamp AS stamp FROM archiveGroup")
        }
    }

    private func groups(where condition: String, _ arguments: StatementArguments) throws -> [ArchiveGroup] {
        try catalog.reading { database in
            try GroupRow.fetchAll(database, sql: "SELECT * FROM archiveGroup \(condition)", arguments: arguments).map {
                let sql = "SELECT archiveID FROM groupMember WHERE groupID = ? ORDER BY position"
                return $0.group(members: try ArchiveID.fetchAll(database, sql: sql, arguments: [$0.id]))
            }
        }
    }
}
