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
        try layout.makeFolders()
        self.init(layout: layout, catalog: try Catalog(path: layout.catalog))
        if !isReadOnly { SpaceReserve(beside: layout.catalog).keep() }
    }

    init(layout: StoreLayout, catalog: Catalog) {
        (self.layout, self.catalog) = (layout, catalog)
        openArchives = OpenArchives(layout: layout, catalog: catalog)
    }

    package var jobs: Jobs { Jobs(store: self) }
    package var collections: Collections { Collections(store: self) }
    package var ports: Ports { Ports(store: self) }
    package var resolver: Resolver { Resolver(store: self) }
    var committer: Committer { Committer(store: self) }

    /// Whether the store is where nothing can be written: it can be looked at and served.
    package var isReadOnly: Bool { catalog.isReadOnly }
    /// How the catalog is kept on a file system that lacks something, for people; `nil` when nothing is lacking.
    package var adaptation: String? { catalog.adaptation }

    /// - Throws: `StoreError` `unusable` when nothing can be written.
    package func checkWritable() throws(StoreError) {
        guard isReadOnly else { return }
        throw StoreError(
            .unusable, "this store cannot be changed: \(adaptation ?? "it can only be read")",
            place: layout.root, hint: "make it writable, or choose another store with --store")
    }

    /// Bytes that can still be stored.
    package func freeBytes() throws -> UInt64 { try Folder.freeBytes(at: layout.root) }

    /// How often archives and collections, or jobs, were changed: tells cheaply whether there is something new.
    package func revision() throws -> CatalogRevision { try catalog.revision() }

    /// SQLite's own check of the catalog, as lines; `["ok"]` when nothing is wrong.
    package func integrityCheck() throws -> [String] { try catalog.integrityCheck() }

    /// All archives, newest import first, each with whether its file can be read now.
    package func archives() throws -> [ListedArchive] {
        try catalog.allArchives().map { ListedArchive(archive: $0, availability: $0.availability(in: layout)) }
    }

    package func archive(id: ArchiveID) throws -> Archive? { try catalog.archive(id: id) }

    /// The archive of that id, else the first one that was imported under that file name (with or without its ending).
    package func archive(named name: String) throws -> Archive? { try catalog.archive(named: name) }

    /// An archive with what its import found, and with what it needs of other archives that are not there now.
    package func details(of archive: Archive) throws -> ArchiveDetails {
        try resolver.details(of: archive, findings: try catalog.findings(key: archive.key))
    }

    /// Pages in the archive's order, those whose title or URL holds every word of `words`.
    package func pages(
        of archive: Archive, words: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        try catalog.pages(key: archive.key, words: words, offset: offset, limit: limit)
    }

    /// Changes title, tags or notes.
    ///
    /// - Throws: `StoreError` `invalidMetadata`, `notFound` when somebody removed it meanwhile.
    @discardableResult
    package func edit(_ id: ArchiveID, _ words: ArchiveMetadata) throws -> Archive {
        try committer.edit(id, words)
    }

    /// Removes an archive. A linked file itself stays, and somebody who is reading the file keeps reading it whole.
    /// Nothing is done where nobody has the id any more.
    package func remove(_ id: ArchiveID) throws { try committer.remove(id) }

    /// Runs `body` with what imports files.
    func withImporter<Value>(
        _ options: ImportOptions, _ progress: (ImportProgress) throws -> Void, _ body: (Importer) throws -> Value
    ) throws -> Value {
        try withoutActuallyEscaping(progress) { try body(Importer(store: self, options: options, progress: $0)) }
    }

    /// Completes or undoes what killed processes left half done. Runs at each start that may write; cheap when all is well.
    ///
    /// - Parameters:
    ///   - readsAll: Whether the catalog is held against every sidecar, and not only against those that look newer.
    ///   - checkCancellation: Called while files are read; throws `StoreError` `interrupted` to stop.
    @discardableResult
    package func repair(
        readsAll: Bool = false, checkCancellation: @escaping () throws -> Void = {}
    ) throws -> RepairReport {
        guard !isReadOnly else { return RepairReport() }
        var reconciler = Reconciler(store: self, readsAll: readsAll, checkCancellation: checkCancellation)
        return try layout.withCommitLock { try reconciler.run() }
    }

    /// Makes the catalog anew from the files; see `Rebuilder`.
    package static func rebuild(at root: String) throws -> (store: ArchiveStore, report: RebuildReport) {
        try Rebuilder(layout: StoreLayout(root: root)).run()
    }

    /// Writes index files where they are missing or damaged. `checkCancellation` is called now and then; throws to stop.
    package func prepareLookups(checkCancellation: @escaping () throws -> Void = {}) throws -> LookupsReport {
        var repair = IndexRepair(store: self, checkCancellation: checkCancellation)
        return try repair.run()
    }

    /// Copies to a folder what is new in the store, and writes there what the store is.
    ///
    /// The store stays in use meanwhile: what is imported or removed after the first moment is a matter of the next backup.
    ///
    /// - Parameter path: Absolute; made when it is not there. Where `progress` throws, the backup before stays valid.
    /// - Throws: `StoreError`: `failed` for a folder that cannot be one for backups, `locked`, `noSpace`, `unusable`.
    package func backUp(
        to path: String, options: BackupOptions = BackupOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> BackupReport {
        try BackupWriter.backUp(self, to: path, options: options, progress: progress)
    }

    /// Makes the store at `root` what a backup says: the same ids, words, collections and files.
    ///
    /// The store is empty or not there, or has only archives of that backup: then a restoration that was stopped goes on, and
    /// files that were lost come back.
    ///
    /// - Parameter path: Of the backup; absolute, as `root` is. Where `progress` throws, what was restored stays.
    /// - Throws: `StoreError`: `notFound` where there is no backup, `locked` when a server runs on the store, `failed` when
    ///   it has something else in it, `noSpace`, `unusable`.
    package static func restore(
        from path: String, to root: String, progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> RestoreReport {
        try RestoreWriter.restore(from: path, to: root, progress: progress)
    }
}
