import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Finds what somebody asks for: archives by what people call them, captures by URL and time.
package struct Resolver: Sendable {
    let store: ArchiveStore

    var layout: StoreLayout { store.layout }
    var catalog: Catalog { store.catalog }
    var openArchives: OpenArchives { store.openArchives }

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

    /// The archive or collection that a person means: its id, or the unique beginning of one.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func replayable(matching text: String) throws -> Replayable {
        if let id = ArchiveID(text), let found = try replayable(id: id) { return found }
        let candidates = try catalog.ids(startingWith: text) + store.collections.ids(startingWith: text)
        if text.isEmpty || candidates.isEmpty { return .archive(try archive(matching: text)) }
        if candidates.count == 1, let found = try replayable(id: candidates[0]) { return found }
        throw StoreError(
            .ambiguous,
            "\"\(text)\" is the beginning of several ids: \(candidates.map(\.text).joined(separator: ", "))",
            hint: "give more of it")
    }

    /// The archive or collection of that id.
    package func replayable(id: ArchiveID) throws -> Replayable? {
        if let archive = try catalog.archive(id: id) { return .archive(archive) }
        return try store.collections.collection(id: id).map { .collection($0, try store.collections.members(of: $0)) }
    }

    /// The archive that was made of the file at `path` as it is now, as far as path, size and time of change tell.
    ///
    /// A copy in the store has the time of change that its source had, since `preserveModificationTime`.
    package func archive(importedFrom path: String) throws -> Archive? {
        guard let now = FileReference(at: path) else { return nil }
        if let known = try catalog.archives(linkedPath: now.path).first(where: { $0.storage == .linked(now) }) {
            return known
        }
        return try catalog.archives(source: now.path).first { archive in
            var own = stat()
            return !archive.storage.isLinked && stat(layout.file(archive.key), &own) == 0 && now.describes(own)
        }
    }

    /// An archive with what its import found, and with what it needs of other archives that are not there now.
    ///
    /// - Parameter opened: The archive's file, where it is open; `nil` to open it.
    func details(of archive: Archive, findings: [Finding], opened: WACZFile? = nil) throws -> ArchiveDetails {
        let availability = archive.availability(in: layout)
        var findings = findings
        do {
            findings += try missingRequirements(of: archive, opened)
        } catch let error as StoreError
            where [.notFound, .failed, .refused, .unavailable, .changed, .unusable].contains(error.code)
        {
            // The file is lost, away, or was damaged since: all else is known without it.
        }
        findings += archive.findings(availability)
        var archive = archive
        archive.summary.findingCounts = FindingCounts(findings)
        return ArchiveDetails(
            archive: archive, availability: availability, findings: findings,
            collections: try store.collections.collections(of: archive.id).map(\.id))
    }
}
