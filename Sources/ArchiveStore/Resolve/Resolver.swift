import WebArchive

/// Finds archives by id or name, and captures by URL and time, at the cost of one step.
package struct Resolver: Sendable {
    let store: ArchiveStore
    /// What the lookups of the step, and reading what they find, may cost.
    let allowances: Allowances

    var layout: StoreLayout { store.layout }
    var catalog: Catalog { store.catalog }
    var openArchives: OpenArchives { store.openArchives }

    /// Returns the archive with an id, else with the only id that starts with `text`, or the only title that equals it.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func archive(matching text: String) throws -> Archive {
        if let id = ArchiveID(text), let archive = try catalog.archive(id: id) { return archive }
        let names = NameLookup(try archiveNames(), of: "archive")
        let id = try names.id(matching: text, hint: try hint(for: text))
        guard let archive = try catalog.archive(id: id) else { throw Self.wasRemoved(id) }
        return archive
    }

    /// Returns the archive or collection with an id, else with the only id that starts with `text`, or the only title
    /// that equals it.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func replayable(matching text: String) throws -> Replayable {
        if let id = ArchiveID(text), let found = try replayable(id: id) { return found }
        let names = NameLookup(try archiveNames() + store.collections.names(), of: "archive or collection")
        let id = try names.id(matching: text, hint: try hint(for: text))
        guard let found = try replayable(id: id) else { throw Self.wasRemoved(id) }
        return found
    }

    /// Returns short forms of the ids of all archives and collections.
    package func shortIDs() throws -> ShortIDs {
        ShortIDs(try (archiveNames() + store.collections.names()).map(\.id))
    }

    private func archiveNames() throws -> [NameLookup.Name] {
        try catalog.names().map { NameLookup.Name(id: $0.id, title: $0.title) }
    }

    /// Returns what to do if nothing has a name. It may be the name of a file that was imported.
    private func hint(for text: String) throws -> String {
        let meant = try catalog.archive(named: text) ?? catalog.archive(named: text.lowercased())
        return meant.map { "did you mean \"\($0.id)\"?" } ?? "run `replayhost list` to see all archives"
    }

    static func wasRemoved(_ id: ArchiveID) -> StoreError {
        StoreError(.notFound, "\"\(id)\" was removed meanwhile")
    }

    /// Returns the archive or collection with an id.
    package func replayable(id: ArchiveID) throws -> Replayable? {
        let found: Replayable? =
            if let archive = try catalog.archive(id: id) { .archive(archive) } else {
                try store.collections.replayable(id: id)
            }
        if found != nil { store.recentlyUsed.note(id) }
        return found
    }

    /// Returns the archive that was imported from the file at `path`, if path, size and modification time still match.
    ///
    /// Copies in the store have the modification time of their source; see `Committer.preserveModificationTime`.
    package func archive(importedFrom path: String) throws -> Archive? {
        guard let now = FileReference(at: path) else { return nil }
        if let known = try catalog.archives(linkedPath: now.path).first(where: { $0.storage == .linked(now) }) {
            return known
        }
        return try catalog.archives(source: now.path).first { archive in
            !archive.storage.isLinked && Folder.status(of: layout.file(archive.key)).map(now.describes) ?? false
        }
    }

    /// Returns an archive with its findings, including those about required archives that are missing now.
    ///
    /// - Parameter opened: The archive's file; `nil` to open it.
    func details(of archive: Archive, findings: [Finding], opened: WACZFile? = nil) throws -> ArchiveDetails {
        store.recentlyUsed.note(archive.id)
        let observed = archive.observed(in: layout)
        var (archive, availability) = (observed.archive, observed.availability)
        var findings = findings
        var sources: [ArchiveSource] = []
        do {
            let wacz = try opened ?? StoreError.refusingDamage { try openArchives.wacz(of: archive, allowances) }
            findings += try missingRequirements(of: archive, wacz)
            sources = try self.sources(of: wacz)
        } catch let error as StoreError
            where [.notFound, .failed, .refused, .unavailable, .changed, .unusable].contains(error.code)
        {
            // The file is missing, unavailable or damaged. Everything else is known without it.
        }
        if let finding = archive.finding(availability) { findings.append(finding) }
        archive.summary.findingCounts = FindingCounts(findings)
        var details = ArchiveDetails(
            archive: archive, availability: availability, findings: findings,
            collections: try store.collections.collections(of: archive.id).map(\.id),
            text: try store.searcher.indexedText(of: archive), verification: verification(of: archive),
            sources: sources)
        (details.hasThumbnail, details.picturedPage) = try store.thumbnails.known(of: archive)
        return details
    }

    /// Returns the last verification; `nil` until the catalog has its result, too, so that it never stands beside older
    /// findings.
    private func verification(of archive: Archive) -> VerificationReport? {
        let report = store.verifications.last(of: archive)
        return report?.summary.verifiedAt == archive.verified?.verifiedAt ? report : nil
    }
}
