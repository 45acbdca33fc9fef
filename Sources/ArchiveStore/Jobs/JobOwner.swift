import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Who runs a job: a part of a process, known to live by a file in `incoming/` that it keeps locked, and that goes with the value.
package final class JobOwner: Sendable {
    /// What stands in the job.
    let name: String
    private let file: Descriptor
    /// Whether the file system has locks at all.
    private let isLocked: Bool

    init(layout: StoreLayout) throws {
        file = try layout.makeLockedFile(at: layout.runnerFile)
        name = String(file.path.dropFirst(layout.runnerFile("").count))
        // The lock is ours already; asked for again it tells whether there are any.
        isLocked = file.lock() == .taken
    }

    deinit {
        unlink(file.path)
    }

    /// Where there are no locks, a file that was changed lately is what tells: to be called every now and then.
    func heartbeat() {
        if !isLocked { futimens(file.number, nil) }
    }

    /// Whether a name is that of somebody who lives. Where this cannot be told, it is.
    static func isAlive(_ name: String, layout: StoreLayout) -> Bool {
        guard UUID(uuidString: name) != nil else { return false }
        do {
            let file = try Descriptor(path: layout.runnerFile(name), flags: O_RDWR)
            switch file.lock() {
            case .heldByAnother: return true
            case .taken: return false
            case .unsupported:
                return time(nil) - (try file.status().changedAtSeconds) <= IncomingFolder.abandonedAfterSeconds
            }
        } catch {
            return error.code != .notFound
        }
    }
}
