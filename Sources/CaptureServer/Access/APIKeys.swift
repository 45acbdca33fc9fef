package import ArchiveStore
package import CaptureAPI
import Crypto
package import Foundation
package import GRDB

/// A key of a device: what is kept of it.
package struct APIKey: Sendable, Hashable, FetchableRecord {
    package let id: Int64
    /// What the person calls the device.
    package let name: String
    /// The user whose downloads it adds and sees; `nil` for all.
    package let username: String?
    package let isAdministrator: Bool
    package let createdAt: String
    /// To the minute; `nil` if it was never used.
    package let lastUsedAt: String?
    package let revokedAt: String?

    static let columns = "id, name, username, role = 'administrator', created_at, last_used_at, revoked_at"

    package init(row: Row) {
        (id, name, username) = (row[0], row[1], row[2])
        isAdministrator = row[3]
        (createdAt, lastUsedAt, revokedAt) = (row[4], row[5], row[6])
    }
}

/// The keys of devices, in `capture.sqlite`. Of a key, only its SHA-256 is kept.
///
/// Each request asks the database, so that a revoked key ends at once, whichever program revoked it.
package struct APIKeys: Sendable {
    private let database: any DatabaseWriter

    init(_ database: any DatabaseWriter) { self.database = database }

    /// Opens the keys of a queue that no other process uses.
    package init(_ database: CaptureDatabase) { self.init(database.pool) }

    /// Opens the keys of a running server's queue.
    package init(besideServer layout: StoreLayout) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON") }
        self.init(try DatabaseQueue(path: layout.captureDatabase, configuration: configuration))
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
    ) throws -> (text: String, key: APIKey) {
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...100).contains(name.count), isPlain else { throw Problem.name }
        guard user == nil || !isAdministrator else { throw Problem.administratorWithUser }
        let text = Self.randomText()
        let key = try database.write { database in
            let taken = "SELECT count(*) FROM api_keys WHERE name = ? AND revoked_at IS NULL"
            guard try Int.fetchOne(database, sql: taken, arguments: [name]) == 0 else { throw Problem.nameTaken }
            if let user {
                try database.execute(
                    sql: "INSERT INTO users (username, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    arguments: [user.text, QueueTime.text(now)])
            }
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

    /// Returns 256 random bits in hexadecimal.
    static func randomText() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.hexText }

    /// Returns all keys, the newest first; revoked ones too.
    package func all() throws -> [APIKey] {
        try database.read {
            try APIKey.fetchAll($0, sql: "SELECT \(APIKey.columns) FROM api_keys ORDER BY id DESC")
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
    package func revoke(_ nameOrID: String, now: Date = Date()) throws -> APIKey? {
        try database.write { database in
            let condition = "(name = ? OR CAST(id AS TEXT) = ?) AND revoked_at IS NULL ORDER BY name = ? DESC"
            let arguments: StatementArguments = [nameOrID, nameOrID, nameOrID]
            guard let key = try Self.key(database, condition, arguments) else { return nil }
            try database.execute(
                sql: "UPDATE api_keys SET revoked_at = ? WHERE id = ?", arguments: [QueueTime.text(now), key.id])
            return try Self.key(database, "id = ?", [key.id])
        }
    }

    /// Returns the key with this text, unless it was revoked. Records when it was used.
    func find(_ text: String, now: Date = Date()) throws -> APIKey? {
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
    private static func digest(_ text: String) -> String { Data(SHA256.hash(data: Data(text.utf8))).hexText }

    private static func key(
        _ database: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> APIKey? {
        try APIKey.fetchOne(
            database, sql: "SELECT \(APIKey.columns) FROM api_keys WHERE \(condition)", arguments: arguments)
    }
}

extension Data {
    /// Two hexadecimal digits for each byte.
    var hexText: String { map { byte in byte < 16 ? "0" + String(byte, radix: 16) : String(byte, radix: 16) }.joined() }
}
