import Foundation
import GRDB

/// Long work, written down before anybody is told that it will be done.
extension Catalog {
    /// Sees to it that a job hashes a referenced file; none is added where one is under way or waits.
    func queueHashing(of archive: Archive) throws {
        guard archive.reference != nil, archive.sha256 == nil else { return }
        let now = RFC3339.preciseText(of: Date())
        try writing { database in
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
}
