import Foundation

#if os(Linux)
import CLinux
#endif

/// A folder whose archives are imported as they appear.
package struct WatchedFolder: Sendable, Hashable {
    /// An absolute path.
    package let path: String
    /// Whether files are linked instead of copied.
    package let links: Bool

    package init(path: String, links: Bool) {
        (self.path, self.links) = (path, links)
    }
}

/// Imports what appears in a folder, once it's complete: unchanged between two looks, and not open for writing.
package struct FolderWatch {
    private let store: ArchiveStore
    private let folder: WatchedFolder
    /// Files that were imported or refused, by path, with their stamps.
    private var done: [String: String]
    /// Files that may not be complete, with their stamps and since when these are the same.
    private var waiting: [String: (stamp: String, since: ContinuousClock.Instant)] = [:]

    private struct Document: Codable {
        var files: [String: String]
    }

    /// How long a file must be unchanged where the system can't tell whether it's open for writing.
    private static let settledAfter = Duration.seconds(10)

    package init(_ store: ArchiveStore, _ folder: WatchedFolder) {
        (self.store, self.folder) = (store, folder)
        let path = store.layout.watched
        done = (try? StoreDocument.read(Document.self, at: path, bytesMax: Self.bytesMax))?.files ?? [:]
    }

    /// Looks at the folder once.
    ///
    /// - Parameters:
    ///   - stop: Called often; throws to stop.
    ///   - log: Receives the path of each file, and why it was refused; `nil` if it was imported.
    /// - Throws: What `stop` throws; `StoreError` if the folder can't be read.
    package mutating func look(
        stop: () throws -> Void, log: (_ path: String, _ problem: (any Error)?) -> Void
    ) throws {
        var unreadable: [String] = []
        let found = FolderSearch.archives(in: folder.path, unreadable: &unreadable)
        if unreadable.contains(folder.path) {
            throw StoreError(.failed, "the watched folder can't be read", place: folder.path)
        }
        let present = Set(found)
        waiting = waiting.filter { present.contains($0.key) }
        for path in found {
            try stop()
            guard let stamp = StoreDocument.stamp(of: path), done[path] != stamp, isComplete(path, stamp) else {
                continue
            }
            waiting[path] = nil
            // Before the import: if it ends the process, its job is repeated, but not by each start. A file that changes
            // meanwhile has another stamp, and is looked at again.
            done[path] = stamp
            try save(keeping: present)
            do {
                _ = try store.jobs.importAny(at: path, mode: mode(of: path)) { _ in try stop() }
                log(path, nil)
            } catch {
                // Unless everything stops, a person has cancelled this import.
                do {
                    try stop()
                } catch {
                    done[path] = nil
                    try save(keeping: present)
                    throw error
                }
                log(path, error)
            }
        }
    }

    /// A WARC file can't be linked.
    private func mode(of path: String) -> ImportMode {
        folder.links && FolderSearch.isWACZ(path) ? .link : .copy
    }

    private mutating func isComplete(_ path: String, _ stamp: String) -> Bool {
        guard let known = waiting[path], known.stamp == stamp else {
            waiting[path] = (stamp, .now)
            return false
        }
        return Self.isBeingWritten(path).map { !$0 } ?? (known.since.duration(to: .now) >= Self.settledAfter)
    }

    /// Whether a program has the file open for writing; `nil` if the system can't tell.
    private static func isBeingWritten(_ path: String) -> Bool? {
        #if canImport(Glibc)
        guard let file = try? Descriptor.source(path) else { return nil }
        // A read lease is only granted while no program can write to the file. fcntl(2).
        if fcntl(file.number, Int32(CLINUX_F_SETLEASE), F_RDLCK) == 0 {
            _ = fcntl(file.number, Int32(CLINUX_F_SETLEASE), F_UNLCK)
            return false
        }
        return errno == EAGAIN ? true : nil
        #else
        return nil
        #endif
    }

    private mutating func save(keeping present: Set<String>) throws {
        done = done.filter { present.contains($0.key) }
        try StoreDocument.write(Document(files: done), to: store.layout.watched, bytesMax: Self.bytesMax)
    }

    private static let bytesMax = 64 << 20
}
