import Foundation
import GRDB

/// The migrations of the catalog's schema. Released migrations are never edited.
enum CatalogMigrations {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 archives, findings, pages", migrate: archivesFindingsPages)
        migrator.registerMigration("2 lookups", migrate: lookups)
        migrator.registerMigration("3 references, words, groups, jobs", migrate: referencesWordsGroupsJobs)
        migrator.registerMigration("4 pages without an index of URLs") {
            // No query used this index, and it took half of the pages' space.
            try $0.execute(sql: "DROP INDEX pageByURL")
        }
        migrator.registerMigration("5 counts of findings in one column", migrate: findingCountsInOneColumn)
        migrator.registerMigration("6 collections and linked files", migrate: collectionsAndLinkedFiles)
        migrator.registerMigration("7 archives without text") {
            try $0.execute(sql: "ALTER TABLE archive ADD COLUMN indexesText INTEGER NOT NULL DEFAULT 1")
        }
        migrator.registerMigration("8 verification") {
            // The JSON of `VerificationSummary`.
            try $0.execute(sql: "ALTER TABLE archive ADD COLUMN verification TEXT")
        }
        migrator.registerMigration("9 saved URLs") {
            // The JSON of `SavedURL`.
            try $0.execute(sql: "ALTER TABLE archive ADD COLUMN saved TEXT")
        }
        migrator.registerMigration("10 ended work", migrate: endedWork)
        migrator.registerMigration("11 detected pages") {
            try $0.execute(sql: "ALTER TABLE archive ADD COLUMN detectedPageCount INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("12 sites and thumbnails", migrate: sitesAndThumbnails)
        migrator.registerMigration("13 batches of jobs", migrate: batchesOfJobs)
        migrator.registerMigration("14 URLs of findings") {
            // `urls` is a JSON array.
            try $0.execute(
                sql: """
                    ALTER TABLE finding ADD COLUMN urls TEXT;
                    ALTER TABLE finding ADD COLUMN urlCount INTEGER;
                    ALTER TABLE finding ADD COLUMN total INTEGER;
                    """)
        }
        migrator.registerMigration("15 filters of captures") {
            // See `CaptureFilters`. `hashes` is NULL for an archive that can't have a filter.
            try $0.execute(
                sql: """
                    CREATE TABLE captureFilter (
                        revision INTEGER PRIMARY KEY AUTOINCREMENT,
                        archiveKey TEXT NOT NULL UNIQUE REFERENCES archive (key) ON DELETE CASCADE,
                        stamp TEXT NOT NULL,
                        checksum INTEGER NOT NULL,
                        hashes BLOB
                    ) STRICT;
                    """)
        }
        migrator.registerMigration("16 queues of many jobs", migrate: queuesOfManyJobs)
        migrator.registerMigration("17 reconciled folders") {
            // See `ReconciledFolders`.
            try $0.execute(
                sql: """
                    CREATE TABLE reconciled (
                        name TEXT PRIMARY KEY NOT NULL,
                        value INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX unexaminedArchive ON archive (key) WHERE isExamined = 0;
                    """)
        }
        migrator.registerMigration("18 order of imports") {
            try $0.execute(sql: "CREATE INDEX archiveByImport ON archive (importedAt, id)")
        }
        migrator.registerMigration("19 changes of files") {
            // Counts what `CaptureFilters` has read of an archive, which it reads again only after that.
            let isOtherFile = """
                NEW.size != OLD.size OR NEW.linkedModifiedAt IS NOT OLD.linkedModifiedAt
                OR NEW.firstCapture IS NOT OLD.firstCapture OR NEW.lastCapture IS NOT OLD.lastCapture
                OR (json_extract(NEW.findings, '$.error') > 0) IS NOT (json_extract(OLD.findings, '$.error') > 0)
                """
            let count = "BEGIN UPDATE revision SET number = number + 1 WHERE subject = 'files'; END"
            try $0.execute(
                sql: """
                    CREATE TRIGGER archiveFileChange AFTER UPDATE ON archive WHEN \(isOtherFile) \(count);
                    CREATE TRIGGER captureFilterDelete AFTER DELETE ON captureFilter \(count);
                    """)
        }
        migrator.registerMigration("20 findings of sources") {
            // The JSON of `LibraryEntry.sourceFindings`.
            try $0.execute(sql: "ALTER TABLE archive ADD COLUMN sourceFindings TEXT")
        }
        migrator.registerMigration("21 states of files") {
            // Nothing shows of which bytes the earlier results are, so that all archives are verified again.
            try $0.execute(
                sql: "ALTER TABLE archive ADD COLUMN knownState TEXT; UPDATE archive SET verification = NULL")
        }
        migrator.registerMigration("22 content that signatures don't cover") {
            // An earlier version can have listed it. Verification finds that, and corrects the list.
            try $0.execute(
                sql: """
                    ALTER TABLE archive ADD COLUMN showsUncovered INTEGER NOT NULL DEFAULT 0;
                    UPDATE archive SET verification = NULL
                        WHERE key IN (SELECT archiveKey FROM finding WHERE code = 'content-uncovered');
                    """)
        }
        migrator.registerMigration("23 sites, years and pictures") {
            // `years` is a JSON array of the years with captures; NULL until they were counted, as `siteCount`. Sites are counted
            // again, since pages of replayhost-capture itself belonged to replayhost.invalid. Images of main pages are pictures.
            try $0.execute(
                sql: """
                    ALTER TABLE archive ADD COLUMN years TEXT;
                    UPDATE archive SET siteCount = NULL, thumbnail = nullif(thumbnail, '');
                    DELETE FROM archiveSite WHERE archiveKey IN (SELECT key FROM archive WHERE saved IS NOT NULL);
                    """)
        }
        return migrator
    }

    /// Adds what finds jobs without reading the others, and counts which archives there are.
    ///
    /// `turn` is 0 for jobs that can run, 1 for those whose file was unavailable (`JobRunner.fileUnavailable`), and 2 for
    /// those whose process died, which run last.
    private static func queuesOfManyJobs(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE job ADD COLUMN turn INTEGER GENERATED ALWAYS AS (
                    CASE WHEN crashCount > 0 THEN 2 WHEN reason IS 'its file is unavailable' THEN 1 ELSE 0 END) VIRTUAL;
                CREATE INDEX jobByTurn ON job (turn, kind, id) WHERE state = 'waiting';
                CREATE INDEX jobByArchive ON job (archiveID, kind, state);
                CREATE INDEX jobByProgress ON job (kind, state, done, total);
                DROP INDEX jobByEnd;
                CREATE INDEX jobByEnd ON job (finishedAt, id) WHERE finishedAt IS NOT NULL AND state != 'failed';
                INSERT INTO revision VALUES ('files', 0);
                """)
        for change in ["INSERT", "DELETE", "UPDATE OF key"] {
            try database.execute(
                sql: """
                    CREATE TRIGGER archiveFile\(change.prefix(6).capitalized) AFTER \(change) ON archive BEGIN
                        UPDATE revision SET number = number + 1 WHERE subject = 'files';
                    END;
                    """)
        }
    }

    /// Counts the jobs of each kind that were completed since there was last none of that kind.
    ///
    /// Triggers count, since several statements change jobs, and rows of completed jobs are deleted.
    private static func batchesOfJobs(_ database: Database) throws {
        let startBatch = """
            UPDATE jobBatch SET done = 0, bytes = 0 WHERE kind = NEW.kind AND NOT EXISTS (
                SELECT 1 FROM job WHERE kind = NEW.kind AND state IN ('waiting', 'running', 'paused') AND id != NEW.id);
            """
        try database.execute(
            sql: """
                CREATE INDEX jobByKind ON job (kind, state);
                CREATE TABLE jobBatch (
                    kind TEXT PRIMARY KEY NOT NULL,
                    done INTEGER NOT NULL DEFAULT 0,
                    bytes INTEGER NOT NULL DEFAULT 0
                ) STRICT, WITHOUT ROWID;
                INSERT INTO jobBatch (kind) SELECT DISTINCT kind FROM job;
                CREATE TRIGGER jobBatchInsert AFTER INSERT ON job BEGIN
                    INSERT OR IGNORE INTO jobBatch (kind) VALUES (NEW.kind);
                    \(startBatch)
                END;
                CREATE TRIGGER jobBatchRetry AFTER UPDATE OF state ON job
                    WHEN NEW.state = 'waiting' AND OLD.state IN ('failed', 'cancelled') BEGIN
                    \(startBatch)
                END;
                CREATE TRIGGER jobBatchDone AFTER UPDATE OF state ON job
                    WHEN NEW.state = 'done' AND OLD.state != 'done' BEGIN
                    UPDATE jobBatch SET done = done + 1, bytes = bytes + min(coalesce(NEW.total, 0), 1 << 50)
                    WHERE kind = NEW.kind;
                END;
                """)
    }

    /// Adds what lists show of the content of archives.
    ///
    /// `siteCount` and `thumbnail` are NULL until the content was read. Until then, the site of the main page has a row
    /// with 0 captures. `thumbnail` is empty if there is none.
    private static func sitesAndThumbnails(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE archive ADD COLUMN siteCount INTEGER;
                ALTER TABLE archive ADD COLUMN thumbnail TEXT;
                CREATE TABLE archiveSite (
                    archiveKey TEXT NOT NULL REFERENCES archive (key) ON DELETE CASCADE,
                    host TEXT NOT NULL,
                    captures INTEGER NOT NULL,
                    PRIMARY KEY (archiveKey, host)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX archiveSiteByHost ON archiveSite (host);
                """)
    }

    /// Adds the archives whose text or verification failed or was cancelled, which aren't queued again by themselves.
    ///
    /// A trigger notes each end, since several statements end jobs. The note goes with the archive's file, not with the job.
    private static func endedWork(_ database: Database) throws {
        let kinds = "('text', 'verify')"
        let ended = "('failed', 'cancelled')"
        try database.execute(
            sql: """
                CREATE TABLE endedWork (
                    archiveKey TEXT NOT NULL REFERENCES archive (key) ON DELETE CASCADE,
                    kind TEXT NOT NULL,
                    state TEXT NOT NULL,
                    endedAt TEXT NOT NULL,
                    PRIMARY KEY (archiveKey, kind)
                ) STRICT, WITHOUT ROWID;
                INSERT OR REPLACE INTO endedWork
                    SELECT archive.key, job.kind, job.state, job.updatedAt FROM job
                    JOIN archive ON archive.key = CASE WHEN json_valid(options) THEN json_extract(options, '$.key') END
                    WHERE job.kind IN \(kinds) AND job.state IN \(ended) ORDER BY job.id;
                CREATE TRIGGER jobEnd AFTER UPDATE OF state ON job WHEN NEW.kind IN \(kinds) BEGIN
                    DELETE FROM endedWork WHERE kind = NEW.kind
                        AND archiveKey = (SELECT key FROM archive WHERE id = NEW.archiveID);
                    INSERT INTO endedWork SELECT key, NEW.kind, NEW.state, NEW.updatedAt FROM archive
                        WHERE id = NEW.archiveID AND NEW.state IN \(ended);
                END;
                """)
    }

    /// Columns of `archive` in the first versions of the schema.
    private static let firstColumns = """
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
        """

    /// `key` names the archive's files: the SHA-256 of a managed archive.
    private static func archivesFindingsPages(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE archive (
                    key TEXT PRIMARY KEY NOT NULL,
                    id TEXT NOT NULL UNIQUE,
                    sha256 TEXT UNIQUE,
                \(firstColumns)
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

    /// Stores the JSON of `FindingCounts`, as sidecars do.
    private static func findingCountsInOneColumn(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE archive ADD COLUMN findings TEXT NOT NULL DEFAULT '{"error":0,"notice":0,"warning":0}';
                UPDATE archive SET findings = json_object('error', errors, 'notice', notices, 'warning', warnings);
                ALTER TABLE archive DROP COLUMN notices;
                ALTER TABLE archive DROP COLUMN warnings;
                ALTER TABLE archive DROP COLUMN errors;
                """)
    }

    /// Renames groups to collections, referenced files to linked ones, and deaths to crashes.
    private static func collectionsAndLinkedFiles(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE archive RENAME COLUMN referencePath TO linkedPath;
                ALTER TABLE archive RENAME COLUMN referenceModifiedAt TO linkedModifiedAt;
                UPDATE archive SET storage = 'linked' WHERE storage = 'referenced';
                ALTER TABLE archiveGroup RENAME TO archiveCollection;
                ALTER TABLE groupMember RENAME TO collectionMember;
                ALTER TABLE collectionMember RENAME COLUMN groupID TO collectionID;
                DROP INDEX groupByMember;
                CREATE INDEX collectionByMember ON collectionMember (archiveID);
                ALTER TABLE job RENAME COLUMN deaths TO crashCount;
                UPDATE job SET options = json_replace(options, '$.mode', 'link')
                WHERE CASE WHEN json_valid(options) THEN json_extract(options, '$.mode') = 'reference' END;
                """)
        for change in ["Insert", "Update", "Delete"] {
            try database.execute(sql: "DROP TRIGGER archiveGroup\(change)")
            try countChanges(change, of: "archiveCollection", database)
        }
    }

    /// Creates a trigger that counts changes of archives and collections in `revision`.
    private static func countChanges(_ change: String, of table: String, _ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TRIGGER \(table)\(change) AFTER \(change.uppercased()) ON \(table) BEGIN
                    UPDATE revision SET number = number + 1 WHERE subject = 'archives';
                END;
                """)
    }

    /// Adds `ArchiveLookups`; NULL for archives imported by earlier versions.
    private static func lookups(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE archive ADD COLUMN lookups TEXT;
                ALTER TABLE archive ADD COLUMN lookupsReason TEXT;
                """)
    }

    /// Adds linked files, metadata, groups and jobs.
    ///
    /// `sha256` is no longer unique: a linked file can be a copy of one in the store. `revision` counts changes, so
    /// that other processes notice them cheaply. `deaths` counts the processes that ended while running a job.
    private static func referencesWordsGroupsJobs(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE newArchive (
                    key TEXT PRIMARY KEY NOT NULL,
                    id TEXT NOT NULL UNIQUE,
                    sha256 TEXT,
                \(firstColumns),
                    lookups TEXT,
                    lookupsReason TEXT,
                    tags TEXT NOT NULL DEFAULT '[]',
                    notes TEXT NOT NULL DEFAULT '',
                    port INTEGER,
                    referencePath TEXT,
                    referenceModifiedAt INTEGER,
                    provisionalKey TEXT,
                    isExamined INTEGER NOT NULL DEFAULT 1,
                    sidecarStamp TEXT
                ) STRICT;
                INSERT INTO newArchive (
                    key, id, sha256, storage, title, size, originalName, source, importedAt, createdAt, description,
                    software, waczVersion, mainPageURL, mainPageTimestamp, pageCount, captureCount, firstCapture,
                    lastCapture, notices, warnings, errors, lookups, lookupsReason)
                SELECT key, id, sha256, storage, title, size, originalName, source,
                    replace(importedAt, 'Z', '.000000Z'), createdAt, description,
                    software, waczVersion, mainPageURL, mainPageTimestamp, pageCount, captureCount, firstCapture,
                    lastCapture, notices, warnings, errors, lookups, lookupsReason
                FROM archive;
                DROP TABLE archive;
                ALTER TABLE newArchive RENAME TO archive;
                CREATE INDEX archiveByOriginalName ON archive (originalName);
                CREATE INDEX archiveByHash ON archive (sha256);
                CREATE INDEX archiveByReference ON archive (referencePath);
                CREATE TABLE archiveGroup (
                    id TEXT PRIMARY KEY NOT NULL,
                    title TEXT NOT NULL,
                    notes TEXT NOT NULL,
                    tags TEXT NOT NULL,
                    createdAt TEXT NOT NULL,
                    originalName TEXT,
                    port INTEGER,
                    documentStamp TEXT
                ) STRICT;
                CREATE TABLE groupMember (
                    groupID TEXT NOT NULL REFERENCES archiveGroup (id) ON DELETE CASCADE,
                    position INTEGER NOT NULL,
                    archiveID TEXT NOT NULL,
                    PRIMARY KEY (groupID, position)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX groupByMember ON groupMember (archiveID);
                CREATE TABLE job (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    kind TEXT NOT NULL,
                    subject TEXT NOT NULL,
                    archiveID TEXT,
                    options TEXT NOT NULL,
                    state TEXT NOT NULL,
                    reason TEXT,
                    errorCode TEXT,
                    done INTEGER NOT NULL DEFAULT 0,
                    total INTEGER,
                    attempt INTEGER NOT NULL DEFAULT 0,
                    deaths INTEGER NOT NULL DEFAULT 0,
                    owner TEXT,
                    createdAt TEXT NOT NULL,
                    startedAt TEXT,
                    updatedAt TEXT NOT NULL,
                    finishedAt TEXT,
                    revision INTEGER NOT NULL DEFAULT 0
                ) STRICT;
                CREATE INDEX jobByState ON job (state);
                CREATE INDEX jobByEnd ON job (finishedAt) WHERE finishedAt IS NOT NULL;
                CREATE INDEX jobByRevision ON job (revision);
                CREATE TABLE revision (
                    subject TEXT PRIMARY KEY NOT NULL,
                    number INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                INSERT INTO revision VALUES ('archives', 0), ('jobs', 0);
                """)
        for table in ["archive", "archiveGroup"] {
            for change in ["Insert", "Update", "Delete"] { try countChanges(change, of: table, database) }
        }
        // Each job stores the revision of its last change. Storing it isn't a change.
        for (name, change) in [("Insert", "INSERT"), ("Update", "UPDATE OF archiveID, state, reason, done, attempt")] {
            try database.execute(
                sql: """
                    CREATE TRIGGER job\(name) AFTER \(change) ON job BEGIN
                        UPDATE revision SET number = number + 1 WHERE subject = 'jobs';
                        UPDATE job SET revision = (SELECT number FROM revision WHERE subject = 'jobs') WHERE id = NEW.id;
                    END;
                    """)
        }
    }
}
