import GRDB

/// The schema, step by step. A step that was ever released is never edited; a change is a new step.
enum CatalogMigrations {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 archives, findings, pages", migrate: archivesFindingsPages)
        migrator.registerMigration("2 lookups", migrate: lookups)
        return migrator
    }

    /// `key` names the files: the SHA-256 of a managed archive. `sha256` may be unknown and `storage` something else once
    /// archives can stay outside of the store.
    private static func archivesFindingsPages(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE archive (
                    key TEXT PRIMARY KEY NOT NULL,
                    id TEXT NOT NULL UNIQUE,
                    sha256 TEXT UNIQUE,
                    storage TEXT NOT NULL,
                    title TEXT NOT NULL,
                    size INTEGER NOT NULL,
                    originalName TEXT NOT NULL,
                    source TEXT NOT NULL,
                    importedAt TEXT NOT NULL,
                    createdAt TEXT,
                    description TEXT,
                    software TEXT,
                    waczVersion TEXT,
                    mainPageURL TEXT,
                    mainPageTimestamp TEXT,
                    pageCount INTEGER NOT NULL,
                    captureCount INTEGER NOT NULL,
                    firstCapture TEXT,
                    lastCapture TEXT,
                    notices INTEGER NOT NULL,
                    warnings INTEGER NOT NULL,
                    errors INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX archiveByOriginalName ON archive (originalName);
                CREATE TABLE finding (
                    archiveKey TEXT NOT NULL REFERENCES archive (key) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    severity TEXT NOT NULL,
                    code TEXT NOT NULL,
                    what TEXT NOT NULL,
                    location TEXT NOT NULL,
                    consequence TEXT NOT NULL,
                    PRIMARY KEY (archiveKey, position)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE page (
                    archiveKey TEXT NOT NULL REFERENCES archive (key) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    list TEXT NOT NULL,
                    url TEXT NOT NULL,
                    timestamp TEXT,
                    title TEXT,
                    PRIMARY KEY (archiveKey, position)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX pageByURL ON page (archiveKey, url);
                """)
    }

    /// How captures are looked up, `ArchiveLookups`; NULL for archives that were imported before this was found out.
    private static func lookups(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE archive ADD COLUMN lookups TEXT;
                ALTER TABLE archive ADD COLUMN lookupsReason TEXT;
                """)
    }
}
