import Foundation
import GRDB

/// Long work, written down before anybody is told that it will be done.
package struct Jobs: Sendable {
    let store: ArchiveStore

    var catalog: Catalog { store.catalog }
    private var layout: StoreLayout { store.layout }

    /// The jobs that run, then all others, newest first.
    ///
    /// - Parameter states: Those in other states are left out; `nil` for jobs in any state.
    package func all(in states: [Job.State]?, limit: Int) throws -> [Job] {
        let condition = states.map { "WHERE state IN (\(databaseQuestionMarks(count: $0.count)))" } ?? ""
        let arguments = StatementArguments(states?.map(\.rawValue) ?? []) + [limit]
        return try jobs("\(condition) ORDER BY state = 'running' DESC, id DESC LIMIT ?", arguments)
    }

    package func job(id: Int64) throws -> Job? {
        try jobs("WHERE id = ?", [id]).first
    }

    /// Jobs that were changed after `revision`, in the order of their changes.
    package func changed(after revision: Int, limit: Int) throws -> [Job] {
        try jobs("WHERE revision > ? ORDER BY revision LIMIT ?", [revision, limit])
    }

    /// Those that an owner runs.
    func running(by owner: String) throws -> [Job] {
        try jobs("WHERE state = 'running' AND owner = ?", [owner])
    }

    private func jobs(_ condition: String, _ arguments: StatementArguments) throws -> [Job] {
        try catalog.reading { try Job.fetchAll($0, condition, arguments) }
    }

    /// Sees to it that a job hashes a linked file; none is added where one is under way or waits.
    func queueHashing(of archive: Archive) throws {
        guard archive.storage.isLinked, archive.sha256 == nil else { return }
        let now = Self.now()
        try catalog.writing { database in
            let sql = """
                INSERT INTO job (kind, subject, archiveID, options, state, total, createdAt, updatedAt)
                SELECT 'hash', :subject, :id, '{}', 'waiting', :total, :now, :now
                WHERE NOT EXISTS (
                    SELECT 1 FROM job
                    WHERE kind = 'hash' AND archiveID = :id AND state IN ('waiting', 'running', 'paused'))
                """
            try database.execute(
                sql: sql,
                arguments: [
                    "subject": archive.originalName, "id": archive.id.text, "total": Int64(clamping: archive.size),
                    "now": now,
                ])
        }
    }

    /// Writes down an import that begins now.
    ///
    /// - Parameter total: Bytes of the file, where they are known.
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

    /// What an import was asked for; `nil` when the job is none.
    func importOrder(of id: Int64) throws -> ImportOrder? {
        try catalog.reading { database in
            let sql = "SELECT options FROM job WHERE id = ? AND kind = 'import'"
            return try String.fetchOne(database, sql: sql, arguments: [id])
        }.flatMap { ImportOrder(json: $0) }
    }

    /// A job that waits, and where the file lies that it is about, if it is one outside of the store.
    struct WaitingJob {
        let job: Job
        let linkedPath: String?
    }

    /// The first of those that wait, oldest first, after the job `id`.
    func waiting(after id: Int64, limit: Int) throws -> [WaitingJob] {
        try catalog.reading { database in
            let sql = """
                SELECT job.*, archive.linkedPath FROM job LEFT JOIN archive ON archive.id = job.archiveID
                WHERE job.state = 'waiting' AND job.id > ? ORDER BY job.id LIMIT ?
                """
            return try JobRow.fetchAll(database, sql: sql, arguments: [id, limit]).compactMap { row in
                row.job.map { WaitingJob(job: $0, linkedPath: row.linkedPath) }
            }
        }
    }

    /// Who runs jobs, or died running them.
    func owners() throws -> [String] {
        try catalog.reading { database in
            let sql = "SELECT DISTINCT owner FROM job WHERE state = 'running' AND owner IS NOT NULL"
            return try String.fetchAll(database, sql: sql)
        }
    }

    /// `importAny` of the store, as a job: should this process end in the middle, another one begins it again.
    package func importAny(
        at path: String, mode: ImportMode = .copy, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        try store.withImporter(options, progress) { importer in
            // No file, no work: what is wrong with it is said at once.
            guard let file = FileReference(at: path) else { return try importer.importFile(at: path, mode: mode) }
            // Nothing is done for a file that is known, so that nothing is written down either.
            if mode == .link, let known = try importer.known(file) { return .archive(known) }
            let order = ImportOrder(path: path, mode: mode, options: options)
            return try begin(order, name: path, total: file.size).run(importer) {
                try $0.importFile(at: path, mode: mode)
            }
        }
    }

    /// The same, of what is read from a descriptor to its end. It cannot be begun again: what was read is gone.
    package func importStream(
        _ descriptor: Int32, name: String, source: String, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportResult {
        let job = try begin(ImportOrder(path: nil, options: options), name: name, total: nil)
        return try store.withImporter(options, progress) { importer in
            try job.run(importer) { try $0.importStream(Descriptor.duplicate(descriptor, path: source), name: name) }
        }
    }

    /// The same, of a file that comes piece by piece.
    ///
    /// - Parameters:
    ///   - source: Where it comes from, as `IncomingArchive` has it.
    ///   - size: Bytes that will come: free space is checked before the first of them.
    /// - Throws: `FailedUpload` once there is a job.
    package func receive(name: String, source: String, size: UInt64) throws -> Upload {
        let job = try begin(ImportOrder(path: nil), name: name, total: size)
        return try job.attempt {
            let incoming = try IncomingArchive(
                layout: layout, originalName: name, source: source, expectedSize: size)
            return Upload(job, incoming, size: size)
        }
    }

    /// - Parameter name: A path or a file name, of which people are shown the last part.
    private func begin(_ order: ImportOrder, name: String, total: UInt64?) throws -> ImportJob {
        let owner = try JobOwner(layout: layout)
        let id = try addImport(
            order, subject: IncomingArchive.cleanName(name), total: total, owner: owner.name)
        return ImportJob(id: id, jobs: self, owner: owner, total: total)
    }

    /// Takes the jobs of processes that are no more.
    ///
    /// - Returns: How many there were.
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
