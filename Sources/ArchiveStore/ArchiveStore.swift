/// A store of archives in a folder, which several processes can use at once.
///
/// Every change takes effect with one rename: an import when its file appears in `files/`, a removal when it leaves.
/// `repair` completes or undoes the rest of what a killed process was doing.
package struct ArchiveStore: Sendable {
    package let layout: StoreLayout
    let catalog: Catalog
    /// The full-text index.
    let search: SearchIndex
    /// Archives that are open for reading.
    package let openArchives: OpenArchives
    /// Which archives can have captures of a URL.
    let filters: CaptureFilters
    /// Collections with their members, for replay.
    let collectionCache = CollectionCache()
    /// What people use, whose jobs run first.
    let recentlyUsed = RecentlyUsed()
    /// Whether the text of PDFs is read even if no sandbox works. See `PDFProgram`.
    package var readsPDFsWithoutSandbox = false

    /// The version of replayhost.
    package static let version = "0.2.0"
    /// What the archives written here name as their software.
    static let software = "replayhost \(version)"

    /// Opens the store at `root`, an absolute path, and creates it if necessary.
    ///
    /// - Throws: `StoreError`: `unusable` when the folder or the catalog can't be used, `catalogDamaged`.
    package init(at root: String) throws {
        let layout = StoreLayout(root: root)
        try layout.makeFolders()
        self.init(layout: layout, catalog: try Catalog(path: layout.catalog))
        if !isReadOnly { SpaceReserve(beside: layout.catalog).allocate() }
    }

    init(layout: StoreLayout, catalog: Catalog) {
        (self.layout, self.catalog) = (layout, catalog)
        openArchives = OpenArchives(layout: layout, catalog: catalog)
        filters = CaptureFilters(catalog: catalog)
        search = SearchIndex(database: SearchDatabase(path: layout.search, isReadOnly: catalog.isReadOnly))
    }

    package var library: Library { Library(store: self) }
    package var thumbnails: Thumbnails { Thumbnails(store: self) }
    package var jobs: Jobs { Jobs(store: self) }
    package var collections: Collections { Collections(store: self) }
    package var ports: Ports { Ports(store: self) }
    package var resolver: Resolver { Resolver(store: self, allowances: Allowances()) }
    package var searcher: Searcher { Searcher(store: self) }
    package var verifications: Verifications { Verifications(store: self) }
    var committer: Committer { Committer(store: self) }

    /// Whether the store is read-only. Its archives can be listed and replayed.
    package var isReadOnly: Bool { catalog.isReadOnly }
    /// How the catalog works around a limitation of its file system, for people; `nil` if it doesn't have to.
    package var adaptation: String? { catalog.adaptation }

    /// - Throws: `StoreError` `unusable` when nothing can be written.
    package func checkWritable() throws(StoreError) {
        guard isReadOnly else { return }
        throw StoreError(
            .unusable, "this store can't be changed: \(adaptation ?? "it is read-only")",
            place: layout.root, hint: "make it writable, or choose another store with --store")
    }

    /// Returns the number of bytes that are free for the store.
    package func freeBytes() throws -> UInt64 { try Folder.freeBytes(at: layout.root) }

    /// Returns counters of changes, a cheap way to notice them.
    package func revision() throws -> CatalogRevision { try catalog.revision() }

    /// Runs SQLite's integrity check on the catalog. Returns its lines; `["ok"]` if the catalog is intact.
    package func integrityCheck() throws -> [String] { try catalog.integrityCheck() }

    /// Checks the search index. Returns SQLite's lines; `["ok"]` if it is intact or there is none yet.
    package func searchIntegrityCheck() throws -> [String] {
        search.database.exists ? try search.database.integrityCheck() : ["ok"]
    }

    /// Deletes damaged filters of captures, so that a job makes them again.
    ///
    /// - Returns: How many were damaged, and how many archives have none now.
    package func repairFilters() throws -> (damaged: Int, missing: Int) {
        try isReadOnly ? (0, 0) : filters.repair()
    }

    /// Deletes the search index. The text of all archives is then indexed again.
    ///
    /// - Parameter reason: Why, for people.
    package func resetSearch(because reason: String) throws { try search.database.reset(because: reason) }

    /// Returns all archives, newest import first, each with its availability.
    ///
    /// - Parameter tags: Tags that the archives must have, all of them.
    package func archives(tags: [String] = []) throws -> [ListedArchive] {
        var filter = LibraryFilter()
        filter.tags = tags
        return try catalog.archives(filter).map { $0.observed(in: layout) }
    }

    /// Returns the tags of all archives.
    package func tags() throws -> [String] { try catalog.tags() }

    package func archive(id: ArchiveID) throws -> Archive? { try catalog.archive(id: id) }

    /// Returns the archive whose file has this SHA-256, in hex, in the store; `nil` if there is none.
    package func storedArchive(sha256: String) throws -> Archive? {
        guard let archive = try catalog.archive(key: sha256), Folder.fileSize(layout.file(sha256)) != nil else {
            return nil
        }
        return archive
    }

    /// Returns the archive with that id, else the first one imported from a file of that name, with or without `.wacz`.
    package func archive(named name: String) throws -> Archive? { try catalog.archive(named: name) }

    /// Returns an archive with its findings, including those about required archives that are missing now.
    package func details(of archive: Archive) throws -> ArchiveDetails {
        try resolver.details(of: archive, findings: try catalog.findings(key: archive.key))
    }

    /// Returns pages of an archive. If it has no page list, these are pages detected among its captures.
    package func pages(of archive: Archive, _ request: PageListRequest) throws -> PageList {
        archive.summary.pageCount == 0
            ? try search.pages(key: archive.key, request) : try catalog.pages(key: archive.key, request)
    }

    /// Changes title, tags or notes, or whether what the signature doesn't cover is shown.
    ///
    /// - Throws: `StoreError`: `invalidMetadata`, `notFound` if the archive was removed meanwhile.
    @discardableResult
    package func edit(_ id: ArchiveID, _ metadata: ArchiveMetadata) throws -> Archive {
        try committer.edit(id, metadata)
    }

    /// Records what was seen when an archive was replayed that the capture server made.
    package func setReplayCheck(_ id: ArchiveID, _ sentence: String?) throws {
        try committer.setReplayCheck(id, sentence)
    }

    /// Removes an archive from the library; does nothing if there is none with that id. A linked file isn't deleted,
    /// and reads in progress finish.
    package func remove(_ id: ArchiveID) throws { try committer.remove(id) }

    /// Whether an archive is being removed at this moment.
    package var isRemoving: Bool {
        (try? Folder.names(in: layout.incoming))?.contains { $0.hasPrefix(StoreLayout.removedPrefix) } ?? false
    }

    /// Runs `body` with an importer.
    func withImporter<Value>(
        _ options: ImportOptions, _ progress: (ImportProgress) throws -> Void, _ body: (Importer) throws -> Value
    ) throws -> Value {
        try withoutActuallyEscaping(progress) { try body(Importer(store: self, options: options, progress: $0)) }
    }

    /// Completes or undoes what killed processes left unfinished. Runs whenever a process opens the store for writing;
    /// fast if there is nothing to do.
    ///
    /// - Parameters:
    ///   - readsAll: Whether to compare the catalog with every sidecar, not only with those that look newer.
    ///   - checkCancellation: Called while files are read; throws `StoreError` `interrupted` to stop.
    @discardableResult
    package func repair(
        readsAll: Bool = false, checkCancellation: @escaping () throws -> Void = {}
    ) throws -> RepairReport {
        guard !isReadOnly else { return RepairReport() }
        var reconciler = Reconciler(store: self, readsAll: readsAll, checkCancellation: checkCancellation)
        return try layout.withCommitLock { try reconciler.run() }
    }

    /// Deletes the text of removed archives from the search index.
    ///
    /// - Parameter stop: Returns whether to stop; the next call continues.
    package func purgeRemovedTexts(stop: () -> Bool = { false }) throws {
        guard !isReadOnly else { return }
        try search.keepOnly(try catalog.keys())
        try search.purge(stop: stop)
    }

    /// Rebuilds the catalog from the files; see `Rebuilder`.
    package static func rebuild(at root: String) throws -> (store: ArchiveStore, report: RebuildReport) {
        try Rebuilder(layout: StoreLayout(root: root)).run()
    }

    /// Writes index files that are missing or damaged. `checkCancellation` is called from time to time; throws to stop.
    package func prepareLookups(checkCancellation: @escaping () throws -> Void = {}) throws -> LookupsReport {
        var repair = IndexRepair(store: self, checkCancellation: checkCancellation)
        return try repair.run()
    }

    /// Backs up the store to a folder. Files that the backup already has aren't copied again.
    ///
    /// The store can be used meanwhile. The backup shows it as it was at the start.
    ///
    /// - Parameter path: Absolute; created if necessary. If `progress` throws, the previous backup stays valid.
    /// - Throws: `StoreError`: `failed` for a folder that can't be used for backups, `locked`, `noSpace`, `unusable`.
    package func backUp(
        to path: String, options: BackupOptions = BackupOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> BackupReport {
        try BackupWriter.backUp(self, to: path, options: options, progress: progress)
    }

    /// Restores a backup to the store at `root`, with ids, metadata, collections and files.
    ///
    /// The store must be new or empty, or contain archives of that backup only. In that case an interrupted restore
    /// continues, and lost files are replaced.
    ///
    /// - Parameter path: The backup's folder; absolute, like `root`. If `progress` throws, what was restored stays.
    /// - Throws: `StoreError`: `notFound` if there is no backup, `locked` while a server uses the store, `failed` if
    ///   the store contains anything else, `noSpace`, `unusable`.
    package static func restore(
        from path: String, to root: String, progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> RestoreReport {
        try RestoreWriter.restore(from: path, to: root, progress: progress)
    }
}
