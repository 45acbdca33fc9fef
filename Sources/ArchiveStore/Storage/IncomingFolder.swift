import Foundation

/// The files of processes in `incoming/`: each has a locked file, and others named after it.
struct IncomingFolder {
    let layout: StoreLayout

    /// Deletes a file if its owner isn't locked by a living process. Returns whether it did.
    func deleteAbandoned(_ path: String) throws -> Bool { try Self.deleteAbandoned(path, owner: owner(of: path)) }

    /// Returns the file that an index file or sorted run is named after: the path up to the first dot of the name.
    private func owner(of path: String) -> String {
        let name = path.dropFirst(layout.incoming.count)
        return layout.incoming + (name.split(separator: ".", maxSplits: 1).first ?? name)
    }

    /// Deletes a file if its owner isn't locked by a living process, and keeps the owner locked meanwhile.
    static func deleteAbandoned(_ path: String, owner: String) throws -> Bool {
        let status = Folder.status(of: owner, followsLink: false)
        // Only regular files are locked by their process.
        guard status?.isFile ?? (owner == path) else {
            try Folder.delete(path)
            return true
        }
        guard let copy = try open(copy: owner), try isAbandoned(copy) else { return false }
        try withExtendedLifetime(copy) { try Folder.delete(path) }
        return true
    }

    /// Whether no process has locked a file. Locks it in that case.
    private static func isAbandoned(_ copy: Descriptor) throws -> Bool {
        let isOld = try copy.status().ageSeconds > abandonedAfterSeconds
        switch copy.lock() {
        case .heldByAnother: return false
        case .unsupported: return isOld
        case .acquired: return true
        }
    }

    /// Whether `incoming/` has files that `repair` would delete and that are older than `age`.
    func hasAbandoned(olderThanSeconds age: Int) throws -> Bool {
        try Folder.names(in: layout.incoming).contains { name in
            let path = "\(layout.incoming)/\(name)"
            guard let status = Folder.status(of: path, followsLink: false), status.ageSeconds >= age else {
                return false
            }
            if name.hasPrefix(StoreLayout.removedPrefix) { return true }
            guard name.hasPrefix(StoreLayout.copyPrefix) || name.hasPrefix(StoreLayout.runnerPrefix) else {
                return false
            }
            let owner = owner(of: path)
            guard Folder.fileSize(owner) != nil else { return true }
            guard let copy = try Self.open(copy: owner) else { return false }
            return try Self.isAbandoned(copy)
        }
    }

    /// Opens a copy; `nil` if it was just moved into place.
    private static func open(copy path: String) throws -> Descriptor? {
        var result = Result { try Descriptor(path: path, flags: O_RDWR) }
        if case .failure(let error as StoreError) = result, error.code == .unusable {
            // A process that dies just before the rename leaves a read-only copy.
            result = Result { try Descriptor(path: path, flags: O_RDONLY) }
        }
        if case .failure(let error as StoreError) = result, [.notFound, .unusable].contains(error.code) { return nil }
        return try result.get()
    }

    /// The age at which a file counts as abandoned if the file system has no locks.
    static let abandonedAfterSeconds = 24 * 3600
}

extension stat {
    /// The seconds since the status change time (ctime); not negative. That time is more precise than `time`, so the file
    /// that was just written can seem to be from the next second.
    var ageSeconds: Int { max(0, time(nil) - changedAtSeconds) }

    /// The status change time in seconds since 1970.
    private var changedAtSeconds: Int {
        #if os(Linux)
        st_ctim.tv_sec
        #else
        st_ctimespec.tv_sec
        #endif
    }
}
