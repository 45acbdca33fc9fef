package import ArchiveStore
package import CaptureAPI
import Crypto
package import Foundation
import GRDB
import ReplayServer
import WebArchive

extension KeyDescription {
    fileprivate static let columns = "id, name, username, role = 'administrator', created_at, last_used_at, revoked_at"

    fileprivate init(row: Row) {
        self.init(
            id: row[0], name: row[1], username: row[2], isAdministrator: row[3], createdAt: row[4], lastUsedAt: row[5],
            revokedAt: row[6])
    }
}

/// The keys of devices, in `capture.sqlite`. Of a key, only its SHA-256 is kept.
///
/// Each request asks the database, so that a revoked key ends at once, whichever program revoked it.
package struct APIKeys: Sendable {
    private let database: any DatabaseWriter

    /// Opens the keys of a queue that no other process uses.
    package init(_ database: CaptureDatabase) { self.database = database.pool }

    /// Opens the keys of a running server's queue.
    package init(besideServer layout: StoreLayout) throws {
        database = try DatabaseQueue(path: layout.captureDatabase, configuration: CaptureDatabase.configuration)
    }

    /// Why a key can't be added.
    package enum Problem: Error, Hashable {
        case name
        /// A key that hasn't been revoked has this name.
        case nameTaken
        /// An administrator's key isn't bound to a user.
        case administratorWithUser
    }

    /// Adds a key of 256 random bits.
    ///
    /// - Parameters:
    ///   - name: What the person calls the device, 1 to 100 characters.
    ///   - user: The user whose downloads it adds and sees; `nil` for all.
    /// - Returns: The key, which nothing shows again.
    /// - Throws: `Problem`, `DatabaseError`.
    package func add(
        _ name: String, user: Username?, isAdministrator: Bool, now: Date = Date()
    ) throws -> (text: String, key: KeyDescription) {
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...100).contains(name.count), isPlain else { throw Problem.name }
        guard user == nil || !isAdministrator else { throw Problem.administratorWithUser }
        let text = ReplayServer.randomToken()
        let key = try database.write { database in
            let taken = "SELECT count(*) FROM api_keys WHERE name = ? AND revoked_at IS NULL"
            guard try Int.fetchOne(database, sql: taken, arguments: [name]) == 0 else { throw Problem.nameTaken }
            if let user { try DownloadQueue.addUser(user, now: QueueTime.text(now), database) }
            try database.execute(
                sql: "INSERT INTO api_keys (name, sha256, role, username, created_at) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    name, Self.digest(text), isAdministrator ? "administrator" : "user", user?.text,
                    QueueTime.text(now),
                ])
            return try Self.key(database, "id = ?", [database.lastInsertedRowID])
        }
        guard let key else { throw DatabaseError(message: "the new key is missing") }
        return (text, key)
    }

    /// Returns all keys, the newest first; revoked ones too.
    package func all() throws -> [KeyDescription] {
        try database.read {
            try Row.fetchAll($0, sql: "SELECT \(KeyDescription.columns) FROM api_keys ORDER BY id DESC")
                .map(KeyDescription.init)
        }
    }

    /// Returns the users, by name.
    ///
    /// - Parameter user: The only one; `nil` for all.
    package func users(only user: Username? = nil) throws -> [UserDescription] {
        try database.read { database in
            let sql = """
                SELECT username, created_at,
                    (SELECT count(*) FROM downloads WHERE downloads.username = users.username)
                FROM users WHERE username = ifnull(?, username) ORDER BY username
                """
            return try Row.fetchAll(database, sql: sql, arguments: [user?.text])
                .map { UserDescription(username: $0[0], createdAt: $0[1], downloads: $0[2]) }
        }
    }

    /// Revokes the key with an ID or a name.
    ///
    /// - Returns: The key; `nil` if none that isn't revoked has it.
    package func revoke(_ nameOrID: String, now: Date = Date()) throws -> KeyDescription? {
        try database.write { database in
            let condition = "(name = ? OR CAST(id AS TEXT) = ?) AND revoked_at IS NULL ORDER BY name = ? DESC"
            let arguments: StatementArguments = [nameOrID, nameOrID, nameOrID]
            guard let key = try Self.key(database, condition, arguments) else { return nil }
            try database.execute(
                sql: "UPDATE api_keys SET revoked_at = ? WHERE id = ?", arguments: [QueueTime.text(now), key.id])
            return try Self.key(database, "id = ?", [key.id])
        }
    }

    /// Returns the IDs of the keys that weren't revoked.
    func validIDs() throws -> [Int64] {
        try database.read { try Int64.fetchAll($0, sql: "SELECT id FROM api_keys WHERE revoked_at IS NULL") }
    }

    /// Returns the key with this text, unless it was revoked. Records when it was used.
    func find(_ text: String, now: Date = Date()) throws -> KeyDescription? {
        let digest = Self.digest(text)
        let found = try database.read { try Self.key($0, "sha256 = ? AND revoked_at IS NULL", [digest]) }
        guard let found else { return nil }
        let minute = QueueTime.text(Date(timeIntervalSince1970: (now.timeIntervalSince1970 / 60).rounded(.down) * 60))
        if found.lastUsedAt != minute {
            try database.write {
                try $0.execute(
                    sql: "UPDATE api_keys SET last_used_at = ? WHERE id = ?", arguments: [minute, found.id])
            }
        }
        return found
    }

    /// The comparison with what is kept takes no time that tells about the key: another text has another SHA-256.
    private static func digest(_ text: String) -> String { SHA256.hash(data: Data(text.utf8)).hexadecimal }

    private static func key(
        _ database: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> KeyDescription? {
        try Row.fetchOne(
            database, sql: "SELECT \(KeyDescription.columns) FROM api_keys WHERE \(condition)", arguments: arguments
        ).map(KeyDescription.init)
    }
}
