import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Who runs jobs: a part of a process, known to live by a file in `incoming/` that it keeps locked.
///
/// The file is made when the first job is begun and goes with the value.
package final class JobOwner: Sendable {
    private struct Proof {
        let name: String
        let file: Descriptor
        let isLocked: Bool
    }
    private let layout: StoreLayout
    private let proof = Mutex<Proof?>(nil)

    package init(layout: StoreLayout) {
        self.layout = layout
    }

    deinit {
        if let path = proof.withLock({ $0?.file.path }) { unlink(path) }
    }

    /// The name that stands in the jobs that are run.
    func name() throws -> String {
        try proof.withLock { proof in
            if let proof { return proof.name }
            let file = try layout.makeLockedFile(at: layout.runnerFile)
            let name = String(file.path.dropFirst(layout.runnerFile("").count))
            // The lock is ours already; asked a second time it tells whether there are locks at all.
            proof = Proof(name: name, file: file, isLocked: file.lock() == .taken)
            return name
        }
    }

    /// The name, if a job was ever begun under it.
    var nameInUse: String? { proof.withLock { $0?.name } }

    /// Where there are no locks, a file that was changed lately is what tells: to be called every now and then.
    package func showLife() {
        proof.withLock { proof in
            if let proof, !proof.isLocked { futimens(proof.file.number, nil) }
        }
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
                return time(nil) - (try file.status().changedAtSeconds) <= ArchiveStore.abandonedAfterSeconds
            }
        } catch {
            return error.code != .notFound
        }
    }
}
