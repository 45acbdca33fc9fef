import Foundation

/// The owner of running jobs, within a process. It keeps a file in `incoming/` locked, which shows that it is alive.
package final class JobOwner: Sendable {
    /// The name recorded in the job.
    let name: String
    private let file: Descriptor
    /// Whether the file system has locks at all.
    private let isLocked: Bool

    init(layout: StoreLayout) throws {
        file = try layout.makeLockedFile(at: layout.runnerFile)
        name = String(file.path.dropFirst(layout.runnerFile("").count))
        // The file is already locked; locking it again shows whether locks are supported.
        isLocked = file.lock() == .acquired
    }

    deinit {
        unlink(file.path)
    }

    /// Updates the file's modification time, which shows that the owner is alive if locks aren't supported.
    func heartbeat() {
        if !isLocked { futimens(file.number, nil) }
    }

    /// Whether the owner of that name is alive; `true` if that can't be determined.
    static func isAlive(_ name: String, layout: StoreLayout) -> Bool {
        guard UUID(uuidString: name) != nil else { return false }
        do {
            let file = try Descriptor(path: layout.runnerFile(name), flags: O_RDWR)
            switch file.lock() {
            case .heldByAnother: return true
            case .acquired: return false
            case .unsupported:
                return try file.status().ageSeconds <= IncomingFolder.abandonedAfterSeconds
            }
        } catch {
            return error.code != .notFound
        }
    }
}
