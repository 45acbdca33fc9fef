import Foundation
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
        let states = states ?? Job.State.allCases
        // Of each kind and state, an index has the newest jobs.
        let groups = Job.Kind.allCases.filter { !kinds.contains($0.rawValue) }.flatMap { kind in
            Set(states).map { "SELECT * FROM (\(Self.newest(kind, $0)))" }
        }
        guard !groups.isEmpty else { return [] }
        let order = "state = 'running' DESC, state = 'failed' DESC, id DESC"
        let sql = """
            SELECT * FROM job WHERE id IN (
                SELECT id FROM (\(groups.joined(separator: " UNION ALL "))) ORDER BY \(order) LIMIT :limit)
            ORDER BY \(order)
            """
        return try catalog.reading { try JobRow.fetchAll($0, sql: sql, arguments: ["limit": limit]) }.compactMap(\.job)
    }

    private static func newest(_ kind: Job.Kind, _ state: Job.State) -> String {
        "SELECT id, state FROM job WHERE kind = '\(kind.rawValue)' AND state = '\(state.rawValue)' ORDER BY id DESC LIMIT :limit"
    }

    package func job(id: Int64) throws -> Job? {
        try catalog.reading { try Job.fetch($0, id) }
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
    static func fetch(_ database: Database, _ id: Int64) throws -> Job? {
        try JobRow.fetchOne(database.cachedStatement(sql: "SELECT * FROM job WHERE id = ?"), arguments: [id])?.job
    }

    static func fetchAll(_ database: Database, _ condition: String, _ arguments: StatementArguments) throws -> [Job] {
        try JobRow.fetchAll(database, sql: "SELECT * FROM job \(condition)", arguments: arguments).compactMap(\.job)
    }
}
