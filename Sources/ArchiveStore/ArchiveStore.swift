import Foundation
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The managed folder: the sole owner of its files, open to several processes at once.
///
/// One rename decides every change. An import is there once its file is in `files/`, a removal is done once it is not; whatever
/// a killed process left behind is completed or undone by `repair`, never half shown.
package struct ArchiveStore: Sendable {
    package let layout: StoreLayout
    package let catalog: Catalog
    /// Archives that are open for reading.
    package let openArchives: OpenArchives

    /// Opens the store at `root`, an absolute path, and makes it when it is not there.
    ///
    /// - Throws: `StoreError`: `unusable` when the folder or the catalog cannot be used.
    package init(at root: String) throws {
        layout = StoreLayout(root: root)
        do {
            try Folder.create(layout.root)
            try Folder.create(layout.files)
            try Folder.create(layout.incoming)
        } catch {
            throw StoreError(
                .unusable, error.what, place: root, hint: error.hint ?? "choose another store with --store")
        }
        catalog = try Catalog(path: layout.catalog)
        openArchives = OpenArchives(layout: layout, catalog: catalog)
    }

    /// The archive that a person means: its id, or the unique beginning of one.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func archive(matching text: String) throws -> Archive {
        if let id = ArchiveID(text), let archive = try catalog.archive(id: id) { return archive }
        let candidates = try catalog.ids(startingWith: text)
        if text.isEmpty || candidates.isEmpty {
            throw StoreError(
                .notFound, "no archive has the id \"\(text)\"", hint: "run `replayhost list` for those there are")
        }
        guard candidates.count == 1, let archive = try catalog.archive(id: candidates[0]) else {
            let names = candidates.map(\.text).joined(separator: ", ")
            throw StoreError(
                .ambiguous, "\"\(text)\" is the beginning of several ids: \(names)", hint: "give more of it")
        }
        return archive
    }

    /// An archive with what its import found, and with what it needs of other archives that are not there now.
    package func details(of archive: Archive) throws -> ArchiveDetails {
        try details(of: archive, findings: try catalog.findings(key: archive.key))
    }

    /// The same, with what the import found.
    func details(of archive: Archive, findings: [Finding]) throws -> ArchiveDetails {
        var findings = findings
        do {
            findings += try missingRequirements(of: archive)
        } catch let error as StoreError where [.notFound, .failed, .refused].contains(error.code) {
            // The file is lost or was damaged since: `repair` and `doctor` say so; all else is known without it.
        }
        var archive = archive
        archive.findingCounts = FindingCounts(findings)
        return ArchiveDetails(archive: archive, findings: findings)
    }

    /// Captures of exactly this URL, http and https alike, earliest first.
    package func captures(of archive: Archive, url: String, limit: Int) throws -> [CaptureSummary] {
        do {
            let indexed = try openArchives.lookups(archive)
            let entries = try indexed.wacz.captures(ofURL: url, trustsOrder: indexed.trustsOrder)
            return entries.sorted { $0.timestamp < $1.timestamp }.prefix(limit).map {
                CaptureSummary(url: $0.url, timestamp: $0.timestamp, status: $0.status, mime: $0.mime)
            }
        } catch {
            throw StoreError.refused(error)
        }
    }

    /// Bytes that can still be stored.
    package func freeBytes() throws -> UInt64 {
        try Folder.freeBytes(at: layout.root)
    }

    /// Removes an archive: file, index files, sidecar, catalog entry. Somebody who is reading the file keeps reading it whole.
    package func remove(_ archive: Archive) throws {
        let lock = try lockForCommit()
        defer { withExtendedLifetime(lock) {} }
        if Folder.exists(layout.file(archive.key)) {
            try Folder.move(layout.file(archive.key), to: layout.removed(archive.key))
        }
        try finishRemoval(key: archive.key)
        openArchives.forget(key: archive.key)
    }

    /// What follows once the file has left `files/`; repeatable.
    func finishRemoval(key: String) throws {
        try catalog.remove(key: key)
        try deleteSidecars(key: key)
        try Folder.delete(layout.removed(key))
    }

    /// Deletes all that lies in `files/` beside an archive.
    func deleteSidecars(key: String) throws {
        for file in IndexFile.allCases { try Folder.delete(layout.index(file, key: key)) }
        try Folder.delete(layout.sidecar(key))
    }

    /// Held while an import or a removal becomes visible; waits for another process that is about to.
    ///
    /// The lock is on the folder `files/` itself. File systems without locks are used without: there the one rename still
    /// keeps every archive whole.
    ///
    /// - Parameter pulse: Called while waiting; throws to stop.
    func lockForCommit(pulse: () throws -> Void = {}) throws -> Descriptor {
        let folder = try Descriptor(path: layout.files, flags: O_RDONLY | O_DIRECTORY)
        while folder.lock() == .heldByAnother {
            try pulse()
            usleep(20_000)
        }
        return folder
    }
}
