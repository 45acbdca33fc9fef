import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

extension TestStore {
    /// A file outside the store, and the archive that is linked to it.
    func makeLinkedArchive(
        _ name: String, seed: UInt64 = 1, payload: Int = 0
    ) throws -> (path: String, archive: Archive) {
        let path = try folder.write(
            GeneratedArchive(payloadSize: payload, seed: seed).bytes(), to: "elsewhere/\(name).wacz")
        return (path, try store.importLink(to: path).archive)
    }

    /// All jobs, oldest first.
    func jobs() throws -> [Job] {
        try store.jobs.all(in: nil, limit: 10_000).sorted { $0.id < $1.id }
    }

    /// The only job.
    func job() throws -> Job {
        let jobs = try jobs()
        try #require(jobs.count == 1)
        return jobs[0]
    }

    /// Sets the state of a job.
    func set(_ id: Int64, to state: Job.State, owner: String? = nil) throws {
        try store.catalog.writing { database in
            try database.execute(
                sql: "UPDATE job SET state = ?, owner = ? WHERE id = ?", arguments: [state.rawValue, owner, id])
        }
    }

    /// Runs all jobs that can run.
    @discardableResult
    func runAll(_ runner: JobRunner? = nil) throws -> [Job] {
        let runner = runner ?? JobRunner(store)
        var ended: [Job] = []
        while let job = try runner.runNext() { ended.append(job) }
        return ended
    }
}

/// The name of an owner that isn't alive.
func deadOwner() -> String { UUID().uuidString.lowercased() }
