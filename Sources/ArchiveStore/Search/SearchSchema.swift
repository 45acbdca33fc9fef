import GRDB
import WebArchive

/// The tables of `search.sqlite`.
enum SearchSchema {
    /// The version of the tables and of the rules that fold words.
    static let version = 6 * 1000 + WordFolding.version
    /// The version before, which is converted.
    static let previousVersion = 5 * 1000 + WordFolding.version
    /// The version of what documents contain, the first whose words are in the vocabulary.
    static let contents = 2

    /// Prepares a file of the version before. Its archives are still found, and indexed again one by one.
    static func convert(_ database: Database) throws {
        // Another process may have done that.
        guard try Int.fetchOne(database, sql: "PRAGMA user_version") == previousVersion else { return }
        try database.execute(
            sql: """
                ALTER TABLE archive ADD COLUMN contents INTEGER NOT NULL DEFAULT 1;
                ALTER TABLE document ADD COLUMN contents INTEGER NOT NULL DEFAULT 1;
                ALTER TABLE text ADD COLUMN beside BLOB NOT NULL DEFAULT x'';
                \(vocabularyTable)
                UPDATE archive SET state = 'removed', key = 'removed ' || number WHERE state = 'partial';
                PRAGMA user_version = \(version);
                """)
    }

    private static let vocabularyTable = """
        CREATE TABLE vocabulary (
            word TEXT PRIMARY KEY NOT NULL,
            written TEXT NOT NULL,
            pages INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// A document is a text at a URL; a page with much text has several. `word` has a row for each document, with the
    /// folded words of `url`, `document` and `text`, but without those of `text` if `sharesWords`. It keeps no copy of
    /// them. `archive.size` is about what the archive has added, in bytes. `url.archive` is 0 for URLs with a host. Others,
    /// such as `file:///page.html`, mean something else in each archive. `text.beside` says which lines of a text are beside
    /// the page's content. `vocabulary` has the words of all documents.
    static func create(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE note (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
                CREATE TABLE archive (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    key TEXT NOT NULL UNIQUE,
                    state TEXT NOT NULL,
                    source TEXT NOT NULL,
                    position INTEGER NOT NULL,
                    withText INTEGER NOT NULL,
                    reasons TEXT NOT NULL,
                    size INTEGER NOT NULL DEFAULT 0,
                    contents INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE host (
                    number INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE
                ) STRICT;
                CREATE TABLE url (
                    number INTEGER PRIMARY KEY,
                    key TEXT NOT NULL,
                    archive INTEGER NOT NULL,
                    url TEXT NOT NULL,
                    host INTEGER NOT NULL REFERENCES host (number),
                    UNIQUE (key, archive)
                ) STRICT;
                CREATE INDEX urlByHost ON url (host);
                CREATE TABLE text (
                    number INTEGER PRIMARY KEY,
                    digest BLOB NOT NULL UNIQUE,
                    headings INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    beside BLOB NOT NULL,
                    compressed BLOB NOT NULL
                ) STRICT;
                \(vocabularyTable)
                CREATE TABLE document (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    url INTEGER NOT NULL REFERENCES url (number),
                    text INTEGER REFERENCES text (number),
                    title TEXT NOT NULL,
                    type TEXT NOT NULL,
                    language TEXT NOT NULL,
                    sharesWords INTEGER NOT NULL DEFAULT 0,
                    contents INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX documentByURL ON document (url, text);
                CREATE INDEX documentByText ON document (text);
                CREATE TABLE capture (
                    archive INTEGER NOT NULL REFERENCES archive (number),
                    position INTEGER NOT NULL,
                    part INTEGER NOT NULL,
                    document INTEGER NOT NULL REFERENCES document (number),
                    timestamp TEXT NOT NULL,
                    PRIMARY KEY (archive, position, part)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX captureByDocument ON capture (document, timestamp, archive);
                CREATE VIRTUAL TABLE word USING fts5 (
                    title, heading, url, body, facet, content = '', tokenize = 'ascii');
                PRAGMA user_version = \(version);
                """)
    }
}
