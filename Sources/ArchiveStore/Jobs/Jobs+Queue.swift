package import Foundation
import GRDB
import WebArchive

/// What is to be done for many archives, and what is to be done next. Nothing here reads the jobs or the archives one by
/// one.
extension Jobs {
    /// What `queueNew` depends on. Most of what jobs find out isn't part of it.
    package struct QueueState: Sendable, Hashable {
        private let files: Int
        /// When the last text is indexed, it turns out whether the index is complete.
        private let hasTexts: Bool
        private let rebuildReason: String?

        fileprivate init(_ files: Int, hasTexts: Bool, rebuildReason: String?) {
            (self.files, self.hasTexts, self.rebuildReason) = (files, hasTexts, rebuildReason)
        }
    }

    /// Returns a value that changes when there may be something to queue.
    package func queueState() throws -> QueueState {
        let sql = """
            SELECT EXISTS (SELECT 1 FROM job WHERE kind = 'text' AND state IN ('waiting', 'running', 'paused'))
            """
        let hasTexts = try catalog.reading { try Bool.fetchOne($0.cachedStatement(sql: sql)) }
        let search = store.search
        return QueueState(
            try catalog.revision().files, hasTexts: hasTexts ?? false,
            rebuildReason: search.database.exists ? try search.rebuildReason() : nil)
    }

    /// Adds jobs that index and verify new archives, and deletes the text of removed ones.
    ///
    /// - Parameter stop: Returns whether to stop; the next call continues.
    package func queueNew(stop: () -> Bool) throws {
        try queueTexts()
        try queueVerifications()
        try store.purgeRemovedTexts(stop: stop)
    }

    /// Adds jobs for archives that the search index doesn't have completely, or whose content lists can't show yet, and
    /// marks as removed what the index has of others.
    ///
    /// An archive whose job failed or was cancelled gets no other one until its file is replaced, so that people decide.
    package func queueTexts() throws {
        guard !store.isReadOnly else { return }
        try store.search.keepOnly(try catalog.keys())
        try store.search.forgetUnreadPDFs { PDFText(store).obstacle == nil }
        // Archives that were indexed by an earlier version, and those of a catalog that was rebuilt.
        for archive in try catalog.archivesWithoutPages(among: store.search.keysWithDetectedPages()) {
            try noteDetectedPages(of: archive)
        }
        try catalog.noteMainPages()
        let complete = try store.search.completeKeys(isCurrent: true)
        if try catalog.keys().isSubset(of: complete) { try store.search.forgetRebuild() }
        try queueMany(
            .text, total: "NULL",
            where: """
                (key NOT IN (SELECT value FROM json_each(:complete)) OR \(Catalog.lacksContents))
                AND NOT EXISTS (SELECT 1 FROM endedWork WHERE archiveKey = key AND kind = 'text')
                """,
            ["complete": try JSONText.text(complete)])
    }

    /// Takes over the pages that were detected in an archive without a page list.
    func noteDetectedPages(of archive: Archive) throws {
        guard archive.summary.pageCount == 0, let pages = try store.search.detectedPages(key: archive.key) else {
            return
        }
        try catalog.setDetectedPages(pages, key: archive.key)
    }

    /// Adds jobs for archives that were never verified.
    ///
    /// As for texts, people decide about those whose job failed or was cancelled.
    package func queueVerifications() throws {
        guard !store.isReadOnly else { return }
        try queueMany(
            .verify, total: "size",
            where: """
                verification IS NULL
                AND NOT EXISTS (SELECT 1 FROM endedWork WHERE archiveKey = key AND kind = 'verify')
                """, [:])
    }

    /// Adds jobs for archives whose last verification is older than `date`, or that were never verified.
    ///
    /// An archive whose last job failed gets no other one until people verify it or replace its file. One whose job was
    /// cancelled gets another when that was before `date`.
    package func queueVerifications(olderThan date: Date) throws {
        // Verifications have times in whole seconds.
        let verifiedBefore = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.up))
        try queueMany(
            .verify, total: "size",
            where: """
                (verification IS NULL OR json_extract(verification, '$.verifiedAt') < :verifiedBefore)
                AND NOT EXISTS (
                    SELECT 1 FROM endedWork WHERE archiveKey = key AND kind = 'verify'
                        AND (state = 'failed' OR endedAt >= :date))
                """,
            ["verifiedBefore": RFC3339.text(of: verifiedBefore), "date": RFC3339.preciseText(of: date)])
    }

    /// Adds a job for each archive that meets a condition, unless it has one of that kind that hasn't finished; oldest
    /// import first.
    private func queueMany(
        _ kind: Job.Kind, total: String, where condition: String, _ arguments: StatementArguments
    ) throws {
        let all: StatementArguments = ["kind": kind.rawValue, "now": Self.now()]
        let sql = """
            INSERT INTO job (kind, subject, archiveID, options, state, total, createdAt, updatedAt)
            SELECT :kind, originalName, id, json_object('key', key), 'waiting', \(total), :now, :now FROM archive
            WHERE \(condition) AND NOT EXISTS (
                SELECT 1 FROM job AS active WHERE active.archiveID = archive.id AND active.kind = :kind
                    AND active.state IN ('waiting', 'running', 'paused'))
            ORDER BY importedAt, id
            """
        try catalog.writing { try $0.execute(sql: sql, arguments: all &+ arguments) }
    }

    /// A queued job, with the path of its archive's linked file.
    struct WaitingJob: Decodable, FetchableRecord {
        let id: Int64
        let kind: String
        let reason: String?
        /// When it can run: see `CatalogMigrations`.
        let turn: Int
        let linkedPath: String?
    }

    /// Returns the queued jobs of some archives, and of the members of some collections, in the order of `ids`.
    func waiting(_ kinds: Set<Job.Kind>, of ids: [ArchiveID], limit: Int) throws -> [WaitingJob] {
        guard !ids.isEmpty else { return [] }
        let list = try JSONText.text(ids.map(\.text))
        let sql = """
            WITH used (id, place) AS (
                SELECT value, key FROM json_each(:ids) UNION ALL
                SELECT archiveID, key FROM json_each(:ids) JOIN collectionMember ON collectionID = value)
            SELECT job.id, job.kind, job.reason, job.turn, archive.linkedPath
            FROM used CROSS JOIN job ON job.archiveID = used.id LEFT JOIN archive ON archive.id = job.archiveID
            WHERE job.kind IN (\(kinds.map { "'\($0.rawValue)'" }.joined(separator: ", "))) AND job.state = 'waiting'
                AND job.turn = 0
            ORDER BY used.place, job.id LIMIT :limit
            """
        return try catalog.reading { try WaitingJob.fetchAll($0, sql: sql, arguments: ["ids": list, "limit": limit]) }
    }

    /// Whether a job of one of the kinds is queued, other than those whose file was unavailable or whose process died.
    package func hasNext(_ kinds: Set<Job.Kind>) throws -> Bool {
        try catalog.reading { database in
            let statement = try database.cachedStatement(sql: Self.hasNextSQL)
            return try kinds.contains { try Bool.fetchOne(statement, arguments: [$0.rawValue]) ?? false }
        }
    }

    private static let hasNextSQL =
        "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'waiting' AND turn = 0 AND kind = ?)"

    /// Returns queued jobs of some kinds after the job `last`, oldest first; those whose file was unavailable, then those
    /// whose process died, come last.
    func waiting(_ kinds: Set<Job.Kind>, after last: WaitingJob? = nil, limit: Int) throws -> [WaitingJob] {
        try catalog.reading { database in
            let statement = try database.cachedStatement(sql: Self.waitingSQL)
            var found: [WaitingJob] = []
            for turn in (last?.turn ?? 0)...2 where found.count < limit {
                let after = turn == last?.turn ? last?.id ?? 0 : 0
                let ofTurn = try kinds.flatMap { kind in
                    try WaitingJob.fetchAll(
                        statement, arguments: ["turn": turn, "kind": kind.rawValue, "after": after, "limit": limit])
                }
                found += ofTurn.sorted { $0.id < $1.id }
            }
            return Array(found.prefix(limit))
        }
    }

    static let waitingSQL = """
        SELECT job.id, job.kind, job.reason, job.turn, archive.linkedPath
        FROM job LEFT JOIN archive ON archive.id = job.archiveID
        WHERE job.state = 'waiting' AND job.turn = :turn AND job.kind = :kind AND job.id > :after
        ORDER BY job.id LIMIT :limit
        """
}
