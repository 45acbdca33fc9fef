import Foundation
import GRDB

/// Collections: archives that are replayed as one. Their documents are the truth, the catalog is a copy of them.
package struct Collections: Sendable {
    let store: ArchiveStore

    var catalog: Catalog { store.catalog }
    private var layout: StoreLayout { store.layout }

    /// Makes a collection of archives.
    ///
    /// - Parameters:
    ///   - id: Made of a name when `nil`.
    ///   - name: The title when `nil`.
    /// - Throws: `StoreError`: `taken` when the id is, `invalidMetadata`, `notFound` for a member that is no archive.
    package func make(
        id: ArchiveID? = nil, title: String, idFrom name: String? = nil, members: [ArchiveID],
        words: ArchiveMetadata = ArchiveMetadata(),
        originalName: String? = nil
    ) throws -> ArchiveCollection {
        var words = words
        words.title = title
        let checked = try words.checked()
        return try layout.withCommitLock {
            try check(members)
            if let id, try !catalog.isFree(id) { throw Self.taken(id) }
            let collection = ArchiveCollection(
                id: try id ?? ArchiveID.readable(from: name ?? title) { try catalog.isFree($0) },
                title: checked.title ?? title,
                notes: checked.notes ?? "", tags: checked.tags ?? [], members: Self.unique(members),
                createdAt: RFC3339.now(), originalName: originalName)
            try save(collection)
            return collection
        }
    }

    /// Changes title, tags, notes, or members of a collection.
    ///
    /// - Throws: `StoreError`: `notFound`, `invalidMetadata`.
    @discardableResult
    package func edit(
        _ id: ArchiveID, _ words: ArchiveMetadata, members change: ([ArchiveID]) throws -> [ArchiveID] = { $0 }
    ) throws -> ArchiveCollection {
        let words = try words.checked()
        return try layout.withCommitLock {
            guard var collection = try collection(id: id) else { throw Self.noCollection(id.text) }
            if let title = words.title { collection.title = title }
            if let tags = words.tags { collection.tags = tags }
            if let notes = words.notes { collection.notes = notes }
            let members = Self.unique(try change(collection.members))
            try check(members.filter { !collection.members.contains($0) })
            collection.members = members
            try save(collection)
            return collection
        }
    }

    /// Removes a collection; its archives stay.
    package func remove(_ id: ArchiveID) throws {
        try layout.withCommitLock {
            guard try collection(id: id) != nil else { throw Self.noCollection(id.text) }
            try Folder.delete(layout.collection(id))
            try Folder.synchronize(parentOf: layout.collection(id))
            try forget(id)
        }
    }

    /// The collection that a person means: its id, or the unique beginning of one.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func collection(matching text: String) throws -> ArchiveCollection {
        if let id = ArchiveID(text), let collection = try collection(id: id) { return collection }
        let candidates = text.isEmpty ? [] : try ids(startingWith: text)
        guard let first = candidates.first else { throw Self.noCollection(text) }
        guard candidates.count == 1, let collection = try collection(id: first) else {
            let names = candidates.map(\.text).joined(separator: ", ")
            throw StoreError(
                .ambiguous, "\"\(text)\" is the beginning of several ids: \(names)", hint: "give more of it")
        }
        return collection
    }

    /// All collections, newest first, each with its members.
    package func details() throws -> [CollectionDetails] {
        try all().map(details)
    }

    package func details(of collection: ArchiveCollection) throws -> CollectionDetails {
        CollectionDetails(
            collection: collection,
            members: try members(of: collection).map {
                ListedArchive(archive: $0, availability: $0.availability(in: layout))
            })
    }

    /// Takes an archive out of every collection that it is in. Under the commit lock only.
    func leaveAll(_ id: ArchiveID) throws {
        for var collection in try collections(of: id) {
            collection.members.removeAll { $0 == id }
            try save(collection)
        }
    }

    /// Writes a collection's document, then its row in the catalog. Under the commit lock only.
    func save(_ collection: ArchiveCollection) throws {
        let path = layout.collection(collection.id)
        try StoreDocument.write(CollectionDocument(collection), to: path)
        try put(collection, documentStamp: StoreDocument.stamp(of: path))
    }

    private func check(_ members: [ArchiveID]) throws {
        for id in members where try catalog.archive(id: id) == nil {
            throw StoreError(
                .notFound, "no archive has the id \"\(id)\"",
                hint: try collection(id: id) == nil
                    ? "run `replayhost list` for those there are" : "that is a collection: name its archives instead")
        }
    }

    static func taken(_ id: ArchiveID) -> StoreError {
        StoreError(.taken, "the id \"\(id)\" is taken", hint: "choose another, or leave it to replayhost")
    }

    private static func noCollection(_ text: String) -> StoreError {
        StoreError(
            .notFound, "no collection has the id \"\(text)\"",
            hint: "run `replayhost collection list` for those there are")
    }

    private static func unique(_ ids: [ArchiveID]) -> [ArchiveID] {
        var seen: Set<ArchiveID> = []
        return ids.filter { seen.insert($0).inserted }
    }
}
