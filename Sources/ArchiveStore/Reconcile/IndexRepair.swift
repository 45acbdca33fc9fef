import WebArchive

/// What `prepareLookups` found and did.
package struct LookupsReport: Sendable, Hashable {
    /// Archives of which it was not known yet how to look up captures, and those whose index files were missing or damaged.
    package var prepared: [ArchiveID] = []
    /// What could not be put right, in words. Lookups in such an archive read its whole index.
    package var problems: [String] = []
}

/// Sees to it that captures of every archive can be searched: writes index files where they are missing or damaged.
///
/// Reads every index file beside an archive wholly, and the archives that it writes some for.
struct IndexRepair {
    let store: ArchiveStore
    /// Called now and then; throws to stop, between two archives or within one.
    let checkCancellation: () throws -> Void
    private var report = LookupsReport()

    init(store: ArchiveStore, checkCancellation: @escaping () throws -> Void) {
        (self.store, self.checkCancellation) = (store, checkCancellation)
    }

    private var layout: StoreLayout { store.layout }

    mutating func run() throws -> LookupsReport {
        for archive in try store.catalog.allArchives() where archive.availability(in: layout) == .available {
            try checkCancellation()
            do {
                if try areLookupsSound(archive) { continue }
                if try prepare(archive) { report.prepared.append(archive.id) }
            } catch let error as StoreError where error.code != .interrupted {
                report.problems.append("captures of \"\(archive.id)\" are looked up slowly: \(error)")
            }
        }
        return report
    }

    /// Whether index files of an archive that is being adopted are already in place, written by the import that was stopped.
    static func hasIndexFiles(
        _ lookups: ArchiveLookups, of examined: ExaminedArchive, key: String, _ layout: StoreLayout
    ) throws -> Bool {
        guard lookups.files.allSatisfy({ Folder.exists(layout.index($0, key: key)) }) else { return false }
        return try isSound {
            try lookups.open(examined.wacz, key: key, layout: layout).checkLookups()
        }
    }

    private func areLookupsSound(_ archive: Archive) throws -> Bool {
        guard let lookups = archive.lookups else { return false }
        guard lookups.usesSidecar else { return true }
        guard lookups.files.allSatisfy({ Folder.exists(layout.index($0, key: archive.key)) }) else { return false }
        return try Self.isSound {
            let wacz = try WACZFile.open(path: archive.path(in: layout), displayName: "\(archive.id).wacz")
            try lookups.open(wacz, key: archive.key, layout: layout).checkLookups(progress: checkCancellation)
        }
    }

    /// Whether a check finds nothing wrong. A failing disk is no finding.
    private static func isSound(_ check: () throws -> Void) throws -> Bool {
        do {
            try check()
            return true
        } catch let error as WebArchiveError {
            if error.code == .io { throw StoreError.refused(error) }
            return false
        }
    }

    /// Reads an archive once more and writes what its lookups need; `false` when somebody removed it meanwhile.
    private func prepare(_ archive: Archive) throws -> Bool {
        let examined = try ExaminedArchive(reading: archive.path(in: layout), name: "\(archive.id).wacz") { _, _ in
            try checkCancellation()
        }
        return try layout.withStagingFile { owner in
            let index = try IncomingIndex(for: examined, key: archive.key, owner: owner, layout: layout) { _, _ in
                try checkCancellation()
            }
            return try layout.withCommitLock(checkCancellation: checkCancellation) {
                guard try store.catalog.archive(key: archive.key) != nil, archive.availability(in: layout) == .available
                else { return false }
                try index.move()
                try store.catalog.setLookups(index.lookups, key: archive.key)
                store.openArchives.forget(key: archive.key)
                return true
            }
        }
    }
}
