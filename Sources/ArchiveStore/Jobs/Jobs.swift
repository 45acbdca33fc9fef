package import Foundation
import GRDB
import WebArchive

/// The jobs of a store.
package struct Jobs: Sendable {
    let store: ArchiveStore

    var catalog: Catalog { store.catalog }
    private var layout: StoreLayout { store.layout }

    /// Returns the running jobs, those that failed, then all others; each newest first.
    ///
    /// - Parameters:
    ///   - states: The states to include; `nil` for all.
    ///   - kinds: Kinds to leave out.
    package func all(in states: [Job.State]?, except kinds: [String] = [], limit: Int) throws -> [Job] {
        let inStates = states.map { "state IN (\(databaseQuestionMarks(count: $0.count)))" } ?? "TRUE"
        let condition = "WHERE \(inStates) AND kind NOT IN (\(databaseQuestionMarks(count: kinds.count)))"
        let arguments = StatementArguments((states?.map(\.rawValue) ?? []) + kinds) + [limit]
        let order = "state = 'running' DESC, state = 'failed' DESC, id DESC"
        return try jobs("\(condition) ORDER BY \(order) LIMIT ?", arguments)
    }

    package func job(id: Int64) throws -> Job? {
        try jobs("WHERE id = ?", [id]).first
    }

    /// Returns the jobs that changed after `revision`, in the order of their changes.
    package func changed(after revision: Int, limit: Int) throws -> [Job] {
        try jobs("WHERE revision > ? ORDER BY revision LIMIT ?", [revision, limit])
    }

    /// Returns the running jobs of an owner.
    func running(by owner: String) throws -> [Job] {
        try jobs("WHERE state = 'running' AND owner = ?", [owner])
    }

    private func jobs(_ condition: String, _ arguments: StatementArguments) throws -> [Job] {
        try catalog.reading { try Job.fetchAll($0, condition, arguments) }
    }

    /// Adds a job that hashes a linked file, unless there is one that hasn't finished.
    func queueHashing(of archive: Archive) throws {
        guard archive.storage.isLinked, archive.sha256 == nil else { return }
        try queue(.hash, archive, total: archive.size)
    }

    /// Adds jobs for archives that the search index doesn't have completely, or whose content lists can't show yet, and
    /// marks as removed what the index has of others.
    ///
    /// An archive whose job failed or was cancelled gets no other one until its file is replaced, so that people decide.
    package func queueTexts() throws {
        guard !store.isReadOnly else { return }
        let archives = try catalog.allArchives()
        try store.search.keepOnly(Set(archives.map(\.key)))
        try store.search.forgetUnreadPDFs { PDFText(store).obstacle == nil }
        let complete = try store.search.completeKeys()
        if archives.allSatisfy({ complete.contains($0.key) }) { try store.search.forgetRebuild() }
        // Archives that were indexed by an earlier version, and those of a catalog that was rebuilt.
        for archive in archives where archive.pageCount == 0 && complete.contains(archive.key) {
            try noteDetectedPages(of: archive)
        }
        try catalog.noteMainPages()
        let ready = complete.subtracting(try catalog.keysWithoutContents())
        let ended = try ended(.text)
        for archive in archives.reversed() where !ready.contains(archive.key) && ended[archive.key] == nil {
            try queue(.text, archive, total: nil)
        }
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
        let ended = try ended(.verify)
        for archive in try catalog.allArchives().reversed() where archive.verified == nil && ended[archive.key] == nil {
            try queueVerification(of: archive)
        }
    }

    /// Adds jobs for archives whose last verification is older than `date`, or that were never verified.
    ///
    /// An archive whose last job failed gets no other one until people verify it or replace its file. One whose job was
    /// cancelled gets another when that was before `date`.
    package func queueVerifications(olderThan date: Date) throws {
        let ended = try ended(.verify)
        for archive in try catalog.allArchives() where (archive.verified?.verifiedAt ?? .distantPast) < date {
            if let end = ended[archive.key], end.state == .failed || end.date >= date { continue }
            try queueVerification(of: archive)
        }
    }

    /// A row of the table `endedWork`.
    private struct EndedWork: Decodable, FetchableRecord {
        let archiveKey: String
        let state: String
        let endedAt: String
    }

    /// Returns the archives whose last job of a kind failed or was cancelled, by key.
    private func ended(_ kind: Job.Kind) throws -> [String: (state: Job.State?, date: Date)] {
        let rows = try catalog.reading {
            try EndedWork.fetchAll(
                $0, sql: "SELECT archiveKey, state, endedAt FROM endedWork WHERE kind = ?", arguments: [kind.rawValue])
        }
        return Dictionary(
            rows.map { ($0.archiveKey, (Job.State(rawValue: $0.state), RFC3339.date($0.endedAt) ?? .distantPast)) }
        ) { $1 }
    }

    /// Adds a job that verifies an archive, unless there is one that hasn't finished.
    ///
    /// - Returns: The new or the existing job; `nil` if it ended already.
    @discardableResult
    package func queueVerification(of archive: Archive) throws -> Job? {
        try queue(.verify, archive, total: archive.size)
        return try jobs(
            "WHERE kind = 'verify' AND archiveID = ? AND state IN ('waiting', 'running', 'paused')", [archive.id.text]
        ).first
    }

    /// Adds a job for an archive, unless there is one of that kind that hasn't finished.
    private func queue(_ kind: Job.Kind, _ archive: Archive, total: UInt64?) throws {
        let now = Self.now()
        try catalog.writing { database in
            let sql = """
                INSERT INTO job (kind, subject, archiveID, options, state, total, createdAt, updatedAt)
                SELECT :kind, :subject, :id, json_object('key', :key), 'waiting', :total, :now, :now
                WHERE NOT EXISTS (
                    SELECT 1 FROM job
                    WHERE kind = :kind AND archiveID = :id AND state IN ('waiting', 'running', 'paused'))
                """
            try database.execute(
                sql: sql,
                arguments: [
                    "kind": kind.rawValue, "subject": archive.originalName, "id": archive.id.text,
                    "key": archive.key, "total": total.map { Int64(clamping: $0) }, "now": now,
                ])
        }
    }

    /// Adds a running job for an import.
    ///
    /// - Parameter total: The file's size in bytes, if known.
    func addImport(_ order: ImportOrder, subject: String, total: UInt64?, owner: String) throws -> Int64 {
        let now = Self.now()
        let options = try order.json()
        return try catalog.writing { database in
            let sql = """
                INSERT INTO job (kind, subject, options, state, total, attempt, owner, createdAt, startedAt, updatedAt)
                VALUES ('import', ?, ?, 'running', ?, 1, ?, ?, ?, ?)
                """
            try database.execute(
                sql: sql, arguments: [subject, options, total.map { Int64(clamping: $0) }, owner, now, now, now])
            return database.lastInsertedRowID
        }
    }

    /// Returns the parameters of an import; `nil` for other jobs.
    func importOrder(of id: Int64) throws -> ImportOrder? {
        try catalog.reading { database in
            let sql = "SELECT options FROM job WHERE id = ? AND kind = 'import'"
            return try String.fetchOne(database, sql: sql, arguments: [id])
        }.flatMap { ImportOrder(json: $0) }
    }

    /// A queued job, with the path of its archive's linked file.
    struct WaitingJob {
        let job: Job
        let linkedPath: String?
        /// Whether its process died.
        let hasCrashed: Bool
    }

    /// Returns queued jobs after the job `last`, oldest first, those whose process died last.
    func waiting(after last: WaitingJob?, limit: Int) throws -> [WaitingJob] {
        try catalog.reading { database in
            let sql = """
                SELECT job.*, archive.linkedPath FROM job LEFT JOIN archive ON archive.id = job.archiveID
                WHERE job.state = 'waiting' AND (job.crashCount > 0, job.id) > (?, ?)
                ORDER BY job.crashCount > 0, job.id LIMIT ?
                """
            return try JobRow.fetchAll(
                database, sql: sql, arguments: [last?.hasCrashed ?? false, last?.job.id ?? 0, limit]
            ).compactMap { row in
                row.job.map { WaitingJob(job: $0, linkedPath: row.linkedPath, hasCrashed: row.crashCount > 0) }
            }
        }
    }

    /// Returns the owners of running jobs, including dead ones.
    func owners() throws -> [String] {
        try catalog.reading { database in
            let sql = "SELECT DISTINCT owner FROM job WHERE state = 'running' AND owner IS NOT NULL"
            return try String.fetchAll(database, sql: sql)
        }
    }

    /// Imports a file as a job. If this process ends before it is complete, another one starts it again.
    ///
    /// - Parameter others: WARC files to pack into the same archive.
    package func importAny(
        at path: String, with others: [String] = [], mode: ImportMode = .copy, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        try store.withImporter(options, progress) { importer in
            // Not a file: the importer reports the error.
            guard let file = FileReference(at: path) else { return try importer.importFile(at: path, mode: mode) }
            // Nothing to do for a file that is already linked, so no job.
            if mode == .link, let existing = try importer.existingLink(to: file) { return .archive(existing) }
            let order = ImportOrder(path: path, others: others, mode: mode, options: options)
            let sizes = others.map { FileReference(at: $0)?.size ?? 0 }
            let total = sizes.reduce(file.size) { $0.addingSaturated($1) }
            return try start(order, name: path, total: total).run(importer) {
                try $0.importFile(at: path, with: others, mode: mode)
            }
        }
    }

    /// Imports what a descriptor yields until its end, as a job. It can't be repeated, because the input can't be read
    /// again.
    package func importStream(
        _ descriptor: Int32, name: String, source: String, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        let job = try start(ImportOrder(path: nil, options: options), name: name, total: nil)
        return try store.withImporter(options, progress) { importer in
            try job.run(importer) { try $0.importStream(Descriptor.duplicate(descriptor, path: source), name: name) }
        }
    }

    /// Starts an upload as a job.
    ///
    /// - Parameters:
    ///   - source: The source to record, see `IncomingArchive`.
    ///   - size: The size in bytes. Free space is checked first.
    /// - Throws: `FailedUpload` once there is a job.
    package func startUpload(name: String, source: String, size: UInt64) throws -> Upload {
        let job = try start(ImportOrder(path: nil), name: name, total: size)
        return try job.attempt {
            let incoming = try IncomingArchive(
                layout: layout, originalName: name, source: source, expectedSize: size)
            return Upload(job, incoming, size: size)
        }
    }

    /// - Parameter name: A path or a file name. People see its last component.
    private func start(_ order: ImportOrder, name: String, total: UInt64?) throws -> ImportJob {
        let owner = try JobOwner(layout: layout)
        let id = try addImport(
            order, subject: IncomingArchive.cleanName(name), total: total, owner: owner.name)
        return ImportJob(id: id, jobs: self, owner: owner, total: total)
    }

    /// Queues the jobs of dead processes again.
    ///
    /// - Returns: The number of jobs.
    @discardableResult
    package func requeueOrphaned() throws -> Int {
        try owners().filter { !JobOwner.isAlive($0, layout: layout) }
            .reduce(0) { try $0 + requeue(ofDead: $1) }
    }
}

extension Job {
    static func fetchAll(_ database: Database, _ condition: String, _ arguments: StatementArguments) throws -> [Job] {
        try JobRow.fetchAll(database, sql: "SELECT * FROM job \(condition)", arguments: arguments).compactMap(\.job)
    }
}
