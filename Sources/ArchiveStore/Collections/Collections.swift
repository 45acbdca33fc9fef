import Foundation
import GRDB

/// Groups: archives that are replayed as one. Their documents are the truth, the catalog is a copy of them.
package struct Collections: Sendable {
    let store: ArchiveStore

    var catalog: Catalog { store.catalog }
    private var layout: StoreLayout { store.layout }

    /// Makes a group of archives.
    ///
    /// - Parameters:
    ///   - id: Made of a name when `nil`.
    ///   - name: The title when `nil`.
    /// - Throws: `StoreError`: `taken` when the id is, `badWords`, `notFound` for a member that is no archive.
    package func make(
        id: ArchiveID? = nil, title: String, idFrom name: String? = nil, members: [ArchiveID],
        words: ArchiveWords = ArchiveWords(),
        originalName: String? = nil
    ) throws -> ArchiveGroup {
        var words = words
        words.title = title
        let checked = try words.checked()
        return try layout.withCommitLock {
            try check(members)
            if let id, try !catalog.isFree(id) { throw Self.taken(id) }
            let group = ArchiveGroup(
                id: try id ?? ArchiveID.readable(from: name ?? title) { try catalog.isFree($0) },
                title: checked.title ?? title,
                notes: checked.notes ?? "", tags: checked.tags ?? [], members: Self.unique(members),
                createdAt: RFC3339.now(), originalName: originalName)
            try save(group)
            return group
        }
    }

    /// Changes title, tags, notes, or members of a group.
    ///
    /// - Throws: `StoreError`: `notFound`, `badWords`.
    @discardableResult
    package func edit(
        _ id: ArchiveID, _ words: ArchiveWords, members change: ([ArchiveID]) throws -> [ArchiveID] = { $0 }
    ) throws -> ArchiveGroup {
        let words = try words.checked()
        return try layout.withCommitLock {
            guard var group = try group(id: id) else { throw Self.noGroup(id.text) }
            if let title = words.title { group.title = title }
            if let tags = words.tags { group.tags = tags }
            if let notes = words.notes { group.notes = notes }
            let members = Self.unique(try change(group.members))
            try check(members.filter { !group.members.contains($0) })
            group.members = members
            try save(group)
            return group
        }
    }

    /// Removes a group; its archives stay.
    package func remove(_ id: ArchiveID) throws {
        try layout.withCommitLock {
            guard try group(id: id) != nil else { throw Self.noGroup(id.text) }
            try Folder.delete(layout.group(id))
            try Folder.synchronize(parentOf: layout.group(id))
            try forget(id)
        }
    }

    /// The group that a person means: its id, or the unique beginning of one.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func group(matching text: String) throws -> ArchiveGroup {
        if let id = ArchiveID(text), let group = try group(id: id) { return group }
        let candidates = text.isEmpty ? [] : try ids(startingWith: text)
        guard let first = candidates.first else { throw Self.noGroup(text) }
        guard candidates.count == 1, let group = try group(id: first) else {
            let names = candidates.map(\.text).joined(separator: ", ")
            throw StoreError(
                .ambiguous, "\"\(text)\" is the beginning of several ids: \(names)", hint: "give more of it")
        }
        return group
    }

    /// All groups, newest first, each with its members.
    package func details() throws -> [GroupDetails] {
        try all().map(details)
    }

    package func details(of group: ArchiveGroup) throws -> GroupDetails {
        GroupDetails(
            group: group,
            members: try members(of: group).map {
                ListedArchive(archive: $0, availability: $0.availability(in: layout))
            })
    }

    /// Takes an archive out of every group that it is in. Under the commit lock only.
    func leaveAll(_ id: ArchiveID) throws {
        for var group in try groups(of: id) {
            group.members.removeAll { $0 == id }
            try save(group)
        }
    }

    /// Writes a group's document, then its row in the catalog. Under the commit lock only.
    func save(_ group: ArchiveGroup) throws {
        let path = layout.group(group.id)
        try StoreDocument.write(GroupDocument(group), to: path)
        try put(group, documentStamp: StoreDocument.stamp(of: path))
    }

    private func check(_ members: [ArchiveID]) throws {
        for id in members where try catalog.archive(id: id) == nil {
            throw StoreError(
                .notFound, "no archive has the id \"\(id)\"",
                hint: try group(id: id) == nil
                    ? "run `replayhost list` for those there are" : "that is a group: name its archives instead")
        }
    }

    static func taken(_ id: ArchiveID) -> StoreError {
        StoreError(.taken, "the id \"\(id)\" is taken", hint: "choose another, or leave it to replayhost")
    }

    private static func noGroup(_ text: String) -> StoreError {
        StoreError(
            .notFound, "no group has the id \"\(text)\"", hint: "run `replayhost group list` for those there are")
    }

    private static func unique(_ ids: [ArchiveID]) -> [ArchiveID] {
        var seen: Set<ArchiveID> = []
        return ids.filter { seen.insert($0).inserted }
    }
}
