import Foundation
import WebArchive

/// The managed folder: the sole owner of its files, open to several processes at once.
///
/// One rename decides every change. An import is there once its file is in `files/`, a removal is done once it is not; whatever
/// a killed process left behind is completed or undone by `repair`, never half shown.
package struct ArchiveStore: Sendable {
    package let layout: StoreLayout
    let catalog: Catalog
    /// Archives that are open for reading.
    package let openArchives: OpenArchives

    /// Opens the store at `root`, an absolute path, and makes it when it is not there.
    ///
    /// - Throws: `StoreError`: `unusable` when the folder or the catalog cannot be used, `catalogDamaged`.
    package init(at root: String) throws {
        let layout = StoreLayout(root: root)
        try Self.makeFolders(layout)
        self.init(layout: layout, catalog: try Catalog(path: layout.catalog))
        if !isReadOnly { SpaceReserve(beside: layout.catalog).keep() }
    }

    /// Whether the store is where nothing can be written: it can be looked at and served.
    package var isReadOnly: Bool { catalog.isReadOnly }
    /// How the catalog is kept on a file system that lacks something, for people; `nil` when nothing is lacking.
    package var adaptation: String? { catalog.adaptation }

    package var jobs: Jobs { Jobs(store: self) }
    package var collections: Collections { Collections(store: self) }
    package var ports: Ports { Ports(store: self) }
    var committer: Committer { Committer(store: self) }

    /// - Throws: `StoreError` `unusable` when nothing can be written.
    package func checkWritable() throws(StoreError) {
        guard isReadOnly else { return }
        throw StoreError(
            .unusable, "this store cannot be changed: \(catalog.adaptation ?? "it can only be read")",
            place: layout.root, hint: "make it writable, or choose another store with --store")
    }

    init(layout: StoreLayout, catalog: Catalog) {
        self.layout = layout
        self.catalog = catalog
        openArchives = OpenArchives(layout: layout, catalog: catalog)
    }

    /// The store is its owner's alone: archives can hold what others must not read.
    static func makeFolders(_ layout: StoreLayout) throws {
        let isShared = layout.isAmongOtherThings()
        do {
            try Folder.create(layout.root)
            try StoreOwner.check(layout.root)
            for folder in [layout.files, layout.groups, layout.incoming] { try Folder.create(folder) }
        } catch {
            throw StoreError(
                .unusable, error.what, place: layout.root, hint: error.hint ?? "choose another store with --store")
        }
        if !isShared { Folder.makePrivate(layout.root) }
    }

    /// All archives, newest import first, each with whether its file can be read now.
    package func archives() throws -> [ListedArchive] {
        try catalog.allArchives().map { ListedArchive(archive: $0, availability: $0.availability(in: layout)) }
    }

    package func archive(id: ArchiveID) throws -> Archive? { try catalog.archive(id: id) }

    /// The archive of that id, else the first one that was imported under that file name (with or without its ending).
    package func archive(named name: String) throws -> Archive? { try catalog.archive(named: name) }

    /// Pages in the archive's order, those whose title or URL holds every word of `words`.
    package func pages(
        of archive: Archive, words: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        try catalog.pages(key: archive.key, words: words, offset: offset, limit: limit)
    }

    /// How often archives and groups, or jobs, were changed: tells cheaply whether there is something new.
    package func revision() throws -> CatalogRevision { try catalog.revision() }

    /// SQLite's own check of the catalog, as lines; `["ok"]` when nothing is wrong.
    package func integrityCheck() throws -> [String] { try catalog.integrityCheck() }

    /// The archive that a person means: its id, or the unique beginning of one.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func archive(matching text: String) throws -> Archive {
        if let id = ArchiveID(text), let archive = try catalog.archive(id: id) { return archive }
        let candidates = try catalog.ids(startingWith: text)
        if text.isEmpty || candidates.isEmpty {
            let meant = try catalog.archive(named: text) ?? catalog.archive(named: text.lowercased())
            throw StoreError(
                .notFound, "no archive has the id \"\(text)\"",
                hint: meant.map { "did you mean `\($0.id)`?" } ?? "run `replayhost list` for those there are")
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
        let availability = archive.availability(in: layout)
        var findings = findings
        do {
            findings += try missingRequirements(of: archive)
        } catch let error as StoreError
            where [.notFound, .failed, .refused, .offline, .changed, .unusable].contains(error.code)
        {
            // The file is lost, away, or was damaged since: all else is known without it.
        }
        findings += Self.findings(availability, of: archive)
        var archive = archive
        archive.findingCounts = FindingCounts(findings)
        return ArchiveDetails(
            archive: archive, availability: availability, findings: findings,
            groups: try collections.groups(of: archive.id).map(\.id))
    }

    /// What is wrong with a file that is not there as it was.
    private static func findings(_ availability: Availability, of archive: Archive) -> [Finding] {
        let path = archive.reference?.path ?? "files/\(archive.key).wacz"
        switch availability {
        case .here:
            guard !archive.isExamined else { return [] }
            return [
                Finding(
                    severity: .notice, code: "not-read-yet",
                    what: "The file was away when the catalog was made anew; its pages were not read yet.",
                    location: path, consequence: "It is read again by `replayhost doctor`, or soon by a running server."
                )
            ]
        case .offline:
            return [
                Finding(
                    severity: .warning, code: "file-offline", what: "The file is not where it was.", location: path,
                    consequence: "Nothing of it can be shown until its volume is attached or the file is put back.")
            ]
        case .changed:
            return [
                Finding(
                    severity: .error, code: "file-changed", what: "The file was changed since it was read.",
                    location: path,
                    consequence: "It is not shown as what it was; `replayhost import --reference` reads it anew.")
            ]
        case .missing:
            return [
                Finding(
                    severity: .error, code: "file-missing", what: "The file is gone from the store.", location: path,
                    consequence: "Nothing of it can be shown; import it again, or take it from a backup.")
            ]
        }
    }

    /// Bytes that can still be stored.
    package func freeBytes() throws -> UInt64 {
        try Folder.freeBytes(at: layout.root)
    }

    /// Removes an archive: file, index files, sidecar, membership in groups, catalog entry. A referenced file itself stays.
    /// Somebody who is reading the file keeps reading it whole.
    package func remove(_ archive: Archive) throws {
        try layout.withCommitLock {
            if Folder.exists(layout.file(archive.key)) {
                try Folder.move(layout.file(archive.key), to: layout.removed(archive.key))
            } else if archive.reference != nil, Folder.exists(layout.sidecar(archive.key)) {
                try Folder.move(layout.sidecar(archive.key), to: layout.removed(archive.key))
            }
            try committer.finishRemoval(key: archive.key)
        }
    }

    /// Completes or undoes what killed processes left half done. Runs at each start that may write; cheap when all is well.
    ///
    /// - Parameter readsAll: Whether the catalog is held against every sidecar, and not only against those that look newer.
    @discardableResult
    package func repair(readsAll: Bool = false) throws -> RepairReport {
        guard !isReadOnly else { return RepairReport() }
        return try layout.withCommitLock {
            var reconciler = Reconciler(store: self, readsAll: readsAll)
            return try reconciler.run()
        }
    }

    /// Makes the catalog anew from the files; `Rebuilder` says how.
    package static func rebuild(at root: String) throws -> (store: ArchiveStore, report: RebuildReport) {
        let layout = StoreLayout(root: root)
        try makeFolders(layout)
        return try Rebuilder(layout: layout).run()
    }

    /// Writes index files where they are missing or damaged; `doctor` runs it.
    ///
    /// - Parameter pulse: Called now and then; throws to stop.
    package func prepareLookups(pulse: @escaping () throws -> Void = {}) throws -> LookupsReport {
        var repair = IndexRepair(store: self, pulse: pulse)
        return try repair.run()
    }
}
