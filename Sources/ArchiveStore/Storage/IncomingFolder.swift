#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What lies in `incoming/` and belongs to a process: a locked file, and those that are named for it.
struct IncomingFolder {
    let layout: StoreLayout

    /// Deletes a copy that no living process holds, or a file that such a copy owns.
    func deleteAbandoned(_ path: String) throws -> Bool { try Self.deleteAbandoned(path, owner: owner(of: path)) }

    /// The copy that an index file or a run of its sorting is named for: the path up to the first dot of the name.
    private func owner(of path: String) -> String {
        let name = path.dropFirst(layout.incoming.count)
        return layout.incoming + (name.split(separator: ".", maxSplits: 1).first ?? name)
    }

    /// Deletes a copy that no living process holds, or a file that such a copy owns; the lock is ours until it is gone, so that
    /// nobody takes it up meanwhile.
    static func deleteAbandoned(_ path: String, owner: String) throws -> Bool {
        if owner != path, !Folder.exists(owner) {
            try Folder.delete(path)
            return true
        }
        guard let copy = try open(copy: owner), try isAbandoned(copy) else { return false }
        // Its lock is ours until the file is gone.
        try withExtendedLifetime(copy) { try Folder.delete(path) }
        return true
    }

    /// Whether nobody holds a file; if so, its lock is ours as long as it is open.
    private static func isAbandoned(_ copy: Descriptor) throws -> Bool {
        let isOld = time(nil) - (try copy.status().changedAtSeconds) > abandonedAfterSeconds
        switch copy.lock() {
        case .heldByAnother: return false
        case .unsupported: return isOld
        case .taken: return true
        }
    }

    /// Whether something lies in `incoming/` that `repair` would clear away, and has for a while: what has just been made is left
    /// to those who made it.
    func hasAbandoned(olderThanSeconds age: Int) throws -> Bool {
        try Folder.names(in: layout.incoming).contains { name in
            let path = "\(layout.incoming)/\(name)"
            var status = stat()
            guard stat(path, &status) == 0, time(nil) - status.changedAtSeconds >= age else { return false }
            if name.hasPrefix(StoreLayout.removedPrefix) { return true }
            guard name.hasPrefix(StoreLayout.copyPrefix) || name.hasPrefix(StoreLayout.runnerPrefix) else {
                return false
            }
            let owner = owner(of: path)
            guard owner == path || Folder.exists(owner) else { return true }
            guard let copy = try Self.open(copy: owner) else { return false }
            return try Self.isAbandoned(copy)
        }
    }

    /// `nil` for a copy that was renamed into place a moment ago.
    private static func open(copy path: String) throws -> Descriptor? {
        var result = Result { try Descriptor(path: path, flags: O_RDWR | O_NONBLOCK) }
        if case .failure(let error as StoreError) = result, error.code == .unusable {
            // Made read-only just before its rename; when its process died there, its lock is free.
            result = Result { try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK) }
        }
        if case .failure(let error as StoreError) = result, [.notFound, .unusable].contains(error.code) { return nil }
        return try result.get()
    }

    /// Where there are no locks, a copy that nobody has touched for so long is nobody's.
    static let abandonedAfterSeconds = 24 * 3600
}

extension stat {
    /// Time of the last change, contents or not, in seconds since 1970.
    var changedAtSeconds: Int {
        #if os(Linux)
        st_ctim.tv_sec
        #else
        st_ctimespec.tv_sec
        #endif
    }
}
