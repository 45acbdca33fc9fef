import GRDB
import WebArchive

extension Catalog {
    /// Saves the sites of an archive, those with the most captures, and the years with captures.
    func setSites(_ counts: IndexCounts, key: String) throws {
        let years = try JSONText.text(Set(counts.months.compactMap { Int($0.month.prefix(4)) }).sorted())
        try writing { database in
            let sites = try Self.sites(of: counts, key: key, database)
            let siteCount = sites.count + counts.otherSites.sites
            try database.execute(
                sql: "UPDATE archive SET siteCount = ?, years = ? WHERE key = ?", arguments: [siteCount, years, key])
            guard database.changesCount == 1 else { return }
            try database.execute(sql: "DELETE FROM archiveSite WHERE archiveKey = ?", arguments: [key])
            for site in sites.prefix(Self.sitesMax) {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO archiveSite VALUES (?, ?, ?)",
                    arguments: [key, site.host, site.captures])
            }
        }
    }

    /// The host of what replayhost-capture makes itself, such as the page that plays a film.
    private static let ownHost = "replayhost.invalid"

    /// Returns the site of the URL that an archive was saved from; `nil` unless the capture server made it.
    private static func savedSite(key: String, _ database: Database) throws -> String? {
        let sql = "SELECT json_extract(saved, '$.url') FROM archive WHERE key = ?"
        return try String.fetchOne(database, sql: sql, arguments: [key]).map {
            IndexCounter.host(of: SURT.key(for: $0))
        }
    }

    /// Returns sites with their captures, those with the most first. What isn't of any site belongs to that of the saved URL.
    private static func sites(
        of counts: IndexCounts, key: String, _ database: Database
    ) throws -> [(host: String, captures: Int)] {
        let sites = counts.sites.map { (host: $0.host, captures: $0.captures) }
        guard let own = sites.first(where: { $0.host == ownHost }), let saved = try savedSite(key: key, database)
        else { return sites }
        let others = sites.filter { $0.host != ownHost && $0.host != saved }
        let captures = own.captures + (sites.first { $0.host == saved }?.captures ?? 0)
        return (others + [(saved, captures)]).sorted { ($1.captures, $0.host) < ($0.captures, $1.host) }
    }

    /// Adds the site of an archive's main page, unless its sites are known.
    static func noteMainPage(_ url: String?, key: String, _ database: Database) throws {
        guard let url else { return }
        var host = IndexCounter.host(of: SURT.key(for: url))
        if host == ownHost, let saved = try savedSite(key: key, database) { host = saved }
        let sql = """
            INSERT INTO archiveSite SELECT key, ?, 0 FROM archive WHERE key = ? AND siteCount IS NULL
                AND NOT EXISTS (SELECT 1 FROM archiveSite WHERE archiveKey = archive.key)
            """
        try database.execute(sql: sql, arguments: [host, key])
    }

    /// Adds the sites of the main pages of archives that an earlier version imported.
    func noteMainPages() throws {
        let unnoted = """
            SELECT * FROM archive WHERE siteCount IS NULL AND mainPageURL IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM archiveSite WHERE archiveKey = archive.key)
            """
        let archives = try archives(sql: unnoted)
        guard !archives.isEmpty else { return }
        try writing { database in
            for archive in archives {
                try Self.noteMainPage(archive.summary.mainPageURL, key: archive.key, database)
            }
        }
    }

    /// The condition that the sites, the thumbnail or the filter of captures of an archive aren't known yet.
    static let lacksContents = """
        (siteCount IS NULL OR thumbnail IS NULL
            OR NOT EXISTS (SELECT 1 FROM captureFilter WHERE archiveKey = archive.key))
        """

    /// Whether the sites, the thumbnail or the filter of captures of an archive aren't known yet.
    func lacksContents(key: String) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM archive WHERE key = ? AND \(Self.lacksContents))"
        return try reading { try Bool.fetchOne($0, sql: sql, arguments: [key]) } ?? false
    }

    /// Returns those of some archives that have no pages yet.
    func archivesWithoutPages(among keys: Set<String>) throws -> [Archive] {
        guard !keys.isEmpty else { return [] }
        let sql = """
            SELECT * FROM archive WHERE pageCount = 0 AND detectedPageCount = 0
                AND key IN (SELECT value FROM json_each(?))
            """
        return try archives(sql: sql, [JSONText.text(keys)])
    }

    /// Records that an archive's sites can't be counted: those that are known are all.
    func endSites(key: String) throws {
        let sql = """
            UPDATE archive SET siteCount = (SELECT count(*) FROM archiveSite WHERE archiveKey = key)
            WHERE key = ? AND siteCount IS NULL
            """
        try writing { try $0.execute(sql: sql, arguments: [key]) }
    }

    /// The maximum number of sites to keep of an archive.
    private static let sitesMax = 50
}
