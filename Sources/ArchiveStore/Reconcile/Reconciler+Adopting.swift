import WebArchive

extension Reconciler {
    /// Adds an archive to the catalog that is only in `files/`: a file named by its hash, or the sidecar of a linked
    /// file.
    ///
    /// - Returns: `nil` for an archive that was replaced by another; it is deleted.
    mutating func adopt(key: String) throws -> ArchiveID? {
        let saved = try savedSidecar(key)
        let holder = try saved.flatMap { ArchiveID($0.id) }.flatMap { try catalog.archive(id: $0) }
        var superseded: Archive?
        if let saved, let holder {
            let other = try? Sidecar.read(at: layout.sidecar(holder.key))
            if other?.supersededKeys.contains(key) == true {
                if other?.entry.provisionalKey == key { try committer.finishRekeying(holder, from: key) }
                try committer.clearSuperseded(key: key)
                return nil
            }
            if saved.entry.provisionalKey == holder.key {
                // Hashed, but interrupted before the catalog was updated.
                var hashed = holder.rekeyed(key)
                saved.apply(to: &hashed)
                try committer.finishRekeying(hashed, from: holder.key)
                return holder.id
            }
            if saved.replaces == holder.key { superseded = holder }
        }
        return try addToCatalog(key: key, saved: saved, superseded: superseded)
    }

    /// Returns the sidecar of an archive that is being adopted. Moves a damaged one aside.
    private mutating func savedSidecar(_ key: String) throws -> Sidecar? {
        let path = layout.sidecar(key)
        do {
            return try Sidecar.read(at: path)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        } catch let error as StoreError where error.isDamagedDocument {
            try Folder.move(path, to: path + ".damaged")
            report.problems.append(
                "files/\(key).json was damaged: the archive's title, tags and notes are lost; see \(key).json.damaged"
            )
            return nil
        }
    }

    private mutating func addToCatalog(key: String, saved: Sidecar?, superseded: Archive?) throws -> ArchiveID {
        let hasFile = Folder.hasName(layout.file(key))
        let name = saved?.entry.originalName ?? "\(key.prefix(12)).wacz"
        let id = try id(for: saved, name: name, superseded: superseded)
        let path = hasFile ? layout.file(key) : saved?.storage.linkedFile?.path ?? layout.file(key)
        if !hasFile, let unread = saved?.archive(key: key, id: id), unread.availability(in: layout) != .available {
            try addWithoutReading(unread, superseded: superseded)
            return id
        }
        let file = hasFile ? try Descriptor(path: path) : try Descriptor.source(path)
        let examined = try ExaminedArchive(
            reading: file.bytes(named: name), showsUncovered: saved?.entry.showsUncovered ?? false
        ) { _, _ in
            try checkCancellation()
        }
        let known = hasFile ? saved?.asManaged() : saved
        let entry =
            known?.entry
            ?? LibraryEntry(
                title: examined.title ?? IncomingArchive.stem(of: name), originalName: name,
                source: "found in the store", importedAt: RFC3339.now())
        let archive = examined.archive(
            key: key, id: id, sha256: known?.sha256(of: key) ?? Sidecar.hash(inKey: key),
            storage: known?.storage ?? .managed, entry: entry,
            lookups: try adoptIndex(of: examined, id: id, key: key))
        // The sidecar is authoritative, so it is only written if something is missing in it.
        if saved == nil || saved?.id != id.text || saved != known {
            try Sidecar(archive, replaces: saved?.replaces).write(to: layout.sidecar(key))
        }
        try committer.insertIntoCatalog(archive, examined, replacing: superseded?.key)
        if let superseded { try committer.clearSuperseded(key: superseded.key) }
        try store.jobs.queueHashing(of: archive)
        return id
    }

    private func id(for saved: Sidecar?, name: String, superseded: Archive?) throws -> ArchiveID {
        if let superseded { return superseded.id }
        if let wanted = saved.flatMap({ ArchiveID($0.id) }), try catalog.isFree(wanted) { return wanted }
        return try ArchiveID.readable(from: IncomingArchive.stem(of: name)) { try catalog.isFree($0) }
    }

    /// Adds an archive whose file is unavailable, from its sidecar.
    private func addWithoutReading(_ archive: Archive, superseded: Archive?) throws {
        try catalog.add(
            archive, sidecarStamp: StoreDocument.stamp(of: layout.sidecar(archive.key)), findings: [],
            replacing: [archive.key, superseded?.key].compactMap { $0 }
        ) { _ in }
        if let superseded { try committer.clearSuperseded(key: superseded.key) }
        try store.jobs.queueHashing(of: archive)
    }

    /// Reads linked files that were unavailable when the catalog was rebuilt.
    mutating func examineReturnedFiles() throws {
        for archive in try catalog.unexaminedArchives() {
            guard archive.availability(in: layout) == .available else { continue }
            do {
                let file = try archive.openFile(in: layout).bytes(named: archive.originalName)
                let examined = try ExaminedArchive(reading: file, showsUncovered: archive.showsUncovered) { _, _ in
                    try checkCancellation()
                }
                var read = archive
                read.summary = examined.summary(try adoptIndex(of: examined, id: archive.id, key: archive.key))
                read.isExamined = true
                try Sidecar.read(at: layout.sidecar(archive.key)).apply(to: &read)
                try committer.insertIntoCatalog(read, examined)
                report.examined.append(archive.id)
            } catch let error as StoreError where error.code == .interrupted {
                throw error
            } catch {
                report.problems.append("the file of \"\(archive.id)\" is available again but can't be read: \(error)")
            }
        }
    }

    /// Uses the index files of an interrupted import, or writes them; `nil` if that fails, which is reported.
    ///
    /// - Throws: What `checkCancellation` throws.
    private mutating func adoptIndex(
        of examined: ExaminedArchive, id: ArchiveID, key: String
    ) throws -> ArchiveLookups? {
        do {
            let lookups = ArchiveLookups(examined)
            if try IndexRepair.hasIndexFiles(lookups, of: examined, key: key, layout) { return lookups }
            return try layout.withStagingFile { owner in
                let index = try IncomingIndex(for: examined, key: key, owner: owner, layout: layout) { _, _ in
                    try checkCancellation()
                }
                try index.move()
                return index.lookups
            }
        } catch let error as StoreError where error.code == .interrupted {
            throw error
        } catch {
            report.problems.append("lookups in \"\(id)\" are slow: \(error)")
            return nil
        }
    }
}
