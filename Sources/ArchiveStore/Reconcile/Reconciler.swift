/// Reconciles the catalog with the files: completes or undoes what killed processes left unfinished, and applies
/// changes in
/// `files/` and `collections/`. Requires the commit lock.
struct Reconciler {
    let store: ArchiveStore
    /// Whether to compare the catalog with every sidecar, not only with those that look newer.
    let readsAll: Bool
    /// Called while files are read, which can take a long time; throws `StoreError` `interrupted` to stop.
    let checkCancellation: () throws -> Void
    var report = RepairReport()
    var inventory = FileInventory()

    init(store: ArchiveStore, readsAll: Bool = false, checkCancellation: @escaping () throws -> Void = {}) {
        (self.store, self.readsAll, self.checkCancellation) = (store, readsAll, checkCancellation)
    }

    var layout: StoreLayout { store.layout }
    var catalog: Catalog { store.catalog }
    var committer: Committer { store.committer }

    mutating func run() throws -> RepairReport {
        try sweepIncoming()
        // Read first, so that changes during the repair are noticed by the next one.
        let folders = try ReconciledFolders(layout, catalog)
        if !readsAll, !report.changedAnything, report.problems.isEmpty, try folders.isKnown(to: catalog) {
            try examineReturnedFiles()
            return report
        }
        inventory = try FileInventory(layout)
        try reconcileFiles()
        try reconcileCollections()
        // In a new store there is nothing yet that a second change could have replaced.
        let isNew = inventory.names.isEmpty
        if folders.areSettled || isNew, !report.changedAnything, report.problems.isEmpty,
            try !folders.isKnown(to: catalog)
        {
            try folders.save(in: catalog)
        }
        return report
    }

    /// Completes removals, and deletes what killed processes left in `incoming/`.
    private mutating func sweepIncoming() throws {
        for name in try Folder.names(in: layout.incoming) {
            do {
                try sweep(name)
            } catch {
                report.problems.append("incoming/\(name) can't be deleted: \(error)")
            }
        }
    }

    private mutating func sweep(_ name: String) throws {
        let path = "\(layout.incoming)/\(name)"
        let key = String(name.dropFirst(StoreLayout.removedPrefix.count))
        if name.hasPrefix(StoreLayout.removedPrefix), StoreLayout.isKey(key) {
            if Folder.fileSize(layout.file(key)) != nil || isLinked(key) {
                // The same file was imported again after the interrupted removal: delete the old one only.
                try Folder.delete(path)
            } else {
                try committer.finishRemoval(key: key)
            }
            report.completedRemovals.append(key)
        } else if name.hasPrefix(StoreLayout.copyPrefix), try IncomingFolder(layout: layout).deleteAbandoned(path) {
            report.sweptCopies += 1
        } else if name.hasPrefix(StoreLayout.runnerPrefix) {
            _ = try IncomingFolder.deleteAbandoned(path, owner: path)
        }
    }

    private func isLinked(_ key: String) -> Bool {
        (try? Sidecar.read(at: layout.sidecar(key)))?.storage.isLinked == true
    }

    private mutating func reconcileFiles() throws {
        for name in inventory.names where name.hasSuffix(StoreDocument.temporarySuffix) {
            try Folder.delete("\(layout.files)/\(name)")
            report.sweptSidecars += 1
        }
        for name in inventory.names
        where name.hasSuffix(StoreLayout.fileSuffix) && !inventory.files.contains(String(name.dropLast(5))) {
            report.problems.append("files/\(name) isn't named by its SHA-256; import it, then delete it there")
        }
        let foreign = inventory.files.filter { Folder.fileSize(layout.file($0)) == nil }
        for key in foreign.sorted() {
            report.problems.append("files/\(key).wacz isn't a regular file; check who created it, then move it away")
        }
        let known = try catalog.knownFiles()
        try reconcileKnown(known)
        let linked = try reconcileSidecars(known)
        // Sidecars record which archive they replace, so the order doesn't matter.
        for key in inventory.files.union(linked).subtracting(known.keys).subtracting(foreign).sorted() {
            do {
                if let id = try adopt(key: key) { report.adopted.append(id) }
            } catch let error as StoreError where [.catalogDamaged, .noSpace, .interrupted].contains(error.code) {
                throw error
            } catch {
                report.problems.append("files/\(key) can't be added to the catalog: \(error)")
            }
        }
        try sweepIndexFiles(report.changedAnything ? catalog.knownFiles() : known)
        try examineReturnedFiles()
    }

    /// Reconciles archives in the catalog, whose sidecars may be newer or missing.
    private mutating func reconcileKnown(_ known: [String: KnownFile]) throws {
        for (key, archive) in known.sorted(by: { $0.key < $1.key }) {
            let path = layout.sidecar(key)
            let found = StoreDocument.stamp(of: path)
            if found == nil || found != archive.sidecarStamp || readsAll {
                try reconcileSidecar(of: key, at: path, known: archive.sidecarStamp)
            }
            guard !inventory.files.contains(key), !archive.isLinked || found != archive.sidecarStamp,
                let missing = try catalog.archive(key: key), !missing.storage.isLinked
            else { continue }
            report.problems.append(
                "the file of \"\(missing.id)\" is missing (files/\(key).wacz); import it again or remove the archive"
            )
        }
    }

    /// - Parameter known: The version of the sidecar that the catalog matches.
    private mutating func reconcileSidecar(of key: String, at path: String, known: String?) throws {
        guard var archive = try catalog.archive(key: key) else { return }
        let saved: Sidecar
        do {
            saved = try Sidecar.read(at: path)
        } catch let error as StoreError where error.code == .notFound || error.isDamagedDocument {
            // The catalog has the remaining copy.
            try Sidecar(archive).write(to: path)
            try catalog.update(archive, sidecarStamp: StoreDocument.stamp(of: path))
            report.restoredSidecars.append(archive.id)
            return
        } catch {
            report.problems.append("\(error)")
            return
        }
        let before = archive
        saved.apply(to: &archive)
        // Interrupted after the file was moved, before its sidecar was written.
        if archive.storage.isLinked, Folder.fileSize(layout.file(key)) != nil {
            archive.storage = .managed
            try Sidecar(archive).write(to: path)
        }
        let now = StoreDocument.stamp(of: path)
        guard archive != before || now != known else { return }
        if archive.showsUncovered != before.showsUncovered, archive.availability(in: layout) == .available {
            try committer.replaceContents(of: archive, with: committer.examine(archive), sidecarStamp: now)
        } else {
            try catalog.update(archive, sidecarStamp: now)
        }
        if archive != before { report.updated.append(archive.id) }
    }

    /// Deletes sidecars without a file that aren't in the catalog, except those of linked files.
    ///
    /// - Returns: The keys of linked files.
    private mutating func reconcileSidecars(_ known: [String: KnownFile]) throws -> Set<String> {
        var linked: Set<String> = []
        for key in inventory.sidecars.subtracting(known.keys).subtracting(inventory.files).sorted() {
            do {
                if try !Sidecar.read(at: layout.sidecar(key)).storage.isLinked {
                    try Folder.delete(layout.sidecar(key))
                    report.sweptSidecars += 1
                } else {
                    linked.insert(key)
                }
            } catch let error as StoreError
                where error.isDamagedDocument && !key.hasPrefix(StoreLayout.provisionalPrefix)
            {
                // If the archive's file was linked, this is all that is left of the archive.
                try Folder.move(layout.sidecar(key), to: layout.sidecar(key) + ".damaged")
                report.problems.append(
                    "files/\(key).json is damaged: if its archive was linked, link the file again; see \(key).json.damaged"
                )
            } catch {
                report.problems.append("files/\(key).json, the sidecar of a linked file, can't be read: \(error)")
            }
        }
        return linked
    }

    /// Deletes index files that no archive needs. Keeps those of archives that haven't been prepared for lookups.
    private mutating func sweepIndexFiles(_ known: [String: KnownFile]) throws {
        for file in DerivedFile.allCases {
            for key in FileInventory.keys(of: inventory.names, ending: file.suffix) {
                let isNeeded =
                    known[key].map { !file.isForLookups || $0.lookups?.files.contains(file) ?? true }
                    ?? inventory.files.contains(key)
                // An archive that was just adopted under another key has taken its files along.
                guard !isNeeded, Folder.exists(layout.derived(file, key: key)) else { continue }
                try Folder.delete(layout.derived(file, key: key))
                report.sweptSidecars += 1
            }
        }
    }
}
