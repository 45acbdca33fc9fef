package import ArchiveStore
import Foundation
import GRDB
import ReplayServer

/// `capture.sqlite`: the queue. Only the capture server writes it; any SQLite can read it.
///
/// A commit is flushed to the disk before anybody is told about it.
package struct CaptureDatabase: Sendable {
    let pool: DatabasePool
    private let commits: CommitQueue
    /// Woken after each change.
    let changes = EventHub()

    /// Opens the queue for the running server. The caller holds the lock of `capture.json`.
    ///
    /// - Throws: `StoreError` `unusable` for a queue of a newer version.
    package init(layout: StoreLayout) throws {
        let path = layout.captureDatabase
        try Folder.create(layout.capture)
        try Self.makePrivate(path)
        pool = try DatabasePool(path: path, configuration: Self.configuration)
        // The pool lowers this when it switches to the write-ahead log.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try Self.migrate(pool, path: path)
        commits = CommitQueue(pool)
        SpaceReserve(beside: path).allocate()
    }

    /// How each process opens the queue to change it.
    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "capture"
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON") }
        return configuration
    }

    /// Runs a change. Changes that come at the same time share one flush to the disk.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let change: @Sendable (Database) throws -> (value: Value, changesSomething: Bool) = { database in
            let before = database.totalChangesCount
            return (try body(database), database.totalChangesCount != before)
        }
        let result: (value: Value, changesSomething: Bool)
        do {
            result = try await commits.write(change)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            // The reserve is enough for a few rows.
            guard SpaceReserve(beside: pool.path).release() else { throw error }
            result = try await commits.write(change)
        }
        if result.changesSomething { changes.wake() }
        return result.value
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        // Not GRDB's asynchronous form, which a cancelled task can't use, and the end of a task is recorded too.
        try await BlockingWork().long { [pool] in try pool.read(body) }
    }

    /// Whether another program has locked the queue for longer than it's waited for.
    package static func isBusy(_ error: any Error) -> Bool {
        (error as? DatabaseError).map { [.SQLITE_BUSY, .SQLITE_LOCKED].contains($0.resultCode) } ?? false
    }

    /// Makes the reserve again that was used when the disk was full.
    func renewReserve() { SpaceReserve(beside: pool.path).allocate() }

    private static func makePrivate(_ path: String) throws {
        if Folder.exists(path) { return }
        _ = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
    }

    private static func migrate(_ pool: DatabasePool, path: String) throws {
        let migrator = CaptureMigrations.migrator
        let (isComplete, isNewer, applied) = try pool.read {
            (
                try migrator.hasCompletedMigrations($0), try migrator.hasBeenSuperseded($0),
                try migrator.appliedMigrations($0).last
            )
        }
        guard !isNewer else {
            throw StoreError(
                .unusable, "this queue was written by a newer version of replayhost-capture; nothing was changed",
                place: path, hint: "use that version or a newer one")
        }
        if isComplete { return }
        if let number = applied?.split(separator: " ").first { try copy(pool, to: "\(path).schema-\(number)") }
        try migrator.migrate(pool)
    }

    /// Copies the queue before it's changed.
    private static func copy(_ pool: DatabasePool, to path: String) throws {
        guard !Folder.exists(path) else { return }
        let temporary = "\(path).new"
        try Folder.delete(temporary)
        try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [temporary]) }
        try Descriptor(path: temporary, flags: O_RDONLY).synchronize()
        try Folder.move(temporary, to: path)
    }
}

/// The migrations of the queue's schema. Released migrations are never edited.
enum CaptureMigrations {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 users, downloads, attempts", migrate: usersDownloadsAttempts)
        migrator.registerMigration("2 incomplete, replay check", migrate: incompleteReplayCheck)
        migrator.registerMigration("3 keys", migrate: keys)
        migrator.registerMigration("4 additions", migrate: additions)
        migrator.registerMigration("5 turns", migrate: turns)
        migrator.registerMigration("6 removals", migrate: removals)
        migrator.registerMigration("7 previews", migrate: previews)
        migrator.registerMigration("8 folders") {
            // The name of the file's folder if it isn't the genre.
            try $0.execute(sql: "ALTER TABLE downloads ADD COLUMN folder TEXT")
        }
        migrator.registerMigration("9 saved before") {
            try $0.execute(sql: "CREATE INDEX downloads_by_url ON downloads (url)")
        }
        return migrator
    }

    /// A preview that is shown has the published status `completed`.
    private static func previews(_ database: Database) throws {
        try database.execute(
            sql: """
                DROP INDEX downloads_by_status;
                DROP TRIGGER downloads_ran;
                ALTER TABLE downloads DROP COLUMN status;
                ALTER TABLE downloads ADD COLUMN status TEXT NOT NULL GENERATED ALWAYS AS (CASE state
                    WHEN 'queued' THEN 'pending' WHEN 'started' THEN 'downloading'
                    WHEN 'downloading' THEN 'downloading' WHEN 'preview_ready' THEN 'completed'
                    WHEN 'completed' THEN 'completed' ELSE 'failed' END) VIRTUAL;
                CREATE INDEX downloads_by_status ON downloads (status);
                """)
        try createTurnsTrigger(database)
    }

    /// What was removed, for clients that follow changes. No revision is used twice.
    private static func removals(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE removals (
                    revision INTEGER PRIMARY KEY NOT NULL,
                    download_id TEXT NOT NULL,
                    username TEXT NOT NULL,
                    removed_at TEXT NOT NULL
                ) STRICT;
                CREATE TRIGGER downloads_removed AFTER DELETE ON downloads
                BEGIN
                    INSERT INTO removals (revision, download_id, username, removed_at)
                    SELECT 1 + max(OLD.revision, ifnull((SELECT max(revision) FROM downloads), 0),
                            ifnull((SELECT max(revision) FROM removals), 0)),
                        OLD.download_id, OLD.username, strftime('%Y-%m-%dT%H:%M:%SZ', 'now');
                END;
                """)
    }

    /// When a download of a user stopped running, in whatever way.
    private static func turns(_ database: Database) throws {
        try database.execute(sql: "ALTER TABLE users ADD COLUMN last_ran_at TEXT")
        try createTurnsTrigger(database)
    }

    private static func createTurnsTrigger(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TRIGGER downloads_ran AFTER UPDATE OF state ON downloads
                WHEN OLD.status = 'downloading' AND NEW.status <> 'downloading'
                BEGIN
                    UPDATE users SET last_ran_at = NEW.updated_at WHERE username = NEW.username;
                END;
                """)
    }

    /// What counts for hourly limits outlives its downloads. Requests of idempotency keys are kept as SHA-256, and for some time
    /// only.
    private static func additions(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE additions (
                    key_id TEXT NOT NULL,
                    added_at TEXT NOT NULL
                ) STRICT;
                CREATE INDEX additions_by_key ON additions (key_id, added_at);
                CREATE INDEX additions_by_time ON additions (added_at);
                INSERT INTO additions (key_id, added_at) SELECT key_id, created_at FROM downloads
                    ORDER BY id DESC LIMIT 1000;
                DROP INDEX downloads_by_key;
                ALTER TABLE idempotency_keys ADD COLUMN added_at TEXT NOT NULL DEFAULT '';
                CREATE INDEX idempotency_keys_by_time ON idempotency_keys (added_at);
                """)
        let now = QueueTime.text()
        let known = "SELECT key_id, idempotency_key, request FROM idempotency_keys"
        for row in try Row.fetchAll(database, sql: known) {
            let (client, key, request): (String, String, String) = (row[0], row[1], row[2])
            try database.execute(
                sql: "UPDATE idempotency_keys SET request = ?, added_at = ? WHERE key_id = ? AND idempotency_key = ?",
                arguments: [IdempotencyKeys.digest(request), now, client, key])
        }
    }

    /// The keys of devices. `sha256` is that of the key, in hexadecimal.
    private static func keys(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE api_keys (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT NOT NULL,
                    sha256 TEXT NOT NULL UNIQUE,
                    role TEXT NOT NULL CHECK (role IN ('user', 'administrator')),
                    username TEXT REFERENCES users (username),
                    created_at TEXT NOT NULL,
                    last_used_at TEXT,
                    revoked_at TEXT
                ) STRICT;
                CREATE INDEX downloads_by_key ON downloads (key_id, created_at);
                """)
    }

    private static func incompleteReplayCheck(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE downloads ADD COLUMN incomplete TEXT;
                ALTER TABLE downloads ADD COLUMN replay_check TEXT;
                """)
    }

    /// `key_id` is whose limit a download counts for; empty for programs on this computer. `request` is what makes two requests
    /// the same. `revision` grows with each change of any download. The keys of requests outlive their downloads.
    private static func usersDownloadsAttempts(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE users (
                    username TEXT PRIMARY KEY NOT NULL,
                    created_at TEXT NOT NULL
                ) STRICT;
                CREATE TABLE downloads (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    download_id TEXT NOT NULL UNIQUE,
                    url TEXT NOT NULL,
                    host TEXT NOT NULL,
                    username TEXT NOT NULL REFERENCES users (username),
                    client_id TEXT,
                    key_id TEXT NOT NULL DEFAULT '',
                    request TEXT NOT NULL,
                    genre TEXT NOT NULL,
                    service TEXT NOT NULL,
                    title TEXT,
                    options TEXT NOT NULL,
                    state TEXT NOT NULL,
                    status TEXT NOT NULL GENERATED ALWAYS AS (CASE state
                        WHEN 'queued' THEN 'pending' WHEN 'started' THEN 'downloading'
                        WHEN 'downloading' THEN 'downloading' WHEN 'completed' THEN 'completed' ELSE 'failed' END) STORED,
                    stage TEXT,
                    waiting_for TEXT,
                    not_before TEXT,
                    progress REAL,
                    bytes_done INTEGER,
                    bytes_total INTEGER,
                    attempt INTEGER NOT NULL DEFAULT 0,
                    quality_fallback INTEGER NOT NULL DEFAULT 0,
                    created_at TEXT NOT NULL,
                    started_at TEXT,
                    completed_at TEXT,
                    updated_at TEXT NOT NULL,
                    revision INTEGER NOT NULL,
                    file_name TEXT,
                    file_size INTEGER,
                    media_type TEXT,
                    error_code TEXT,
                    error_message TEXT,
                    genre_detection_error TEXT,
                    archive_id TEXT,
                    archive_sha256 TEXT,
                    log_id TEXT,
                    session_id TEXT NOT NULL
                ) STRICT;
                CREATE INDEX downloads_by_created_at ON downloads (created_at);
                CREATE INDEX downloads_by_service ON downloads (service);
                CREATE INDEX downloads_by_status ON downloads (status);
                CREATE INDEX downloads_by_revision ON downloads (revision);
                CREATE INDEX downloads_by_user ON downloads (username, created_at);
                CREATE TABLE attempts (
                    download_id TEXT NOT NULL REFERENCES downloads (download_id) ON DELETE CASCADE,
                    number INTEGER NOT NULL,
                    started_at TEXT NOT NULL,
                    ended_at TEXT,
                    error_code TEXT,
                    error_message TEXT,
                    PRIMARY KEY (download_id, number)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE idempotency_keys (
                    key_id TEXT NOT NULL,
                    idempotency_key TEXT NOT NULL,
                    download_id TEXT NOT NULL,
                    request TEXT NOT NULL,
                    PRIMARY KEY (key_id, idempotency_key)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE site_holds (
                    host TEXT PRIMARY KEY NOT NULL,
                    until TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
