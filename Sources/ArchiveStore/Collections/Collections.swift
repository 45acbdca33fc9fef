import Foundation
import GRDB

/// The collections of a store. Their documents are authoritative, and the catalog has a copy.
package struct Collections: Sendable {
    let store: ArchiveStore

    var catalog: Catalog { store.catalog }
    private var layout: StoreLayout { store.layout }

    /// Creates a collection.
    ///
    /// - Parameters:
    ///   - id: `nil` to make one from `name`.
    ///   - name: `nil` for the title.
    /// - Throws: `StoreError`: `taken` if the id is, `invalidMetadata`, `notFound` for a member that isn't an archive.
    package func make(
        id: ArchiveID? = nil, title: String, idFrom name: String? = nil, members: [ArchiveID],
        metadata: ArchiveMetadata = ArchiveMetadata(),
        originalName: String? = nil
    ) throws -> ArchiveCollection {
        var metadata = metadata
        metadata.title = title
        let checked = try metadata.checked()
        return try store.committing {
            try check(members)
            if let id, try !catalog.isFree(id) { throw Self.idTaken(id) }
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
        _ id: ArchiveID, _ metadata: ArchiveMetadata, members change: ([ArchiveID]) throws -> [ArchiveID] = { $0 }
    ) throws -> ArchiveCollection {
        let metadata = try metadata.checked()
        return try store.committing {
            guard var collection = try collection(id: id) else { throw Self.noCollection(id.text) }
            if let title = metadata.title { collection.title = title }
            if let tags = metadata.tags { collection.tags = tags }
            if let notes = metadata.notes { collection.notes = notes }
            let members = Self.unique(try change(collection.members))
            try check(members.filter { !collection.members.contains($0) })
            collection.members = members
            try save(collection)
            return collection
        }
    }

    /// Deletes a collection. Its archives stay in the library.
    package func remove(_ id: ArchiveID) throws {
        try store.committing {
            guard try collection(id: id) != nil else { throw Self.noCollection(id.text) }
            try Folder.delete(layout.collection(id))
            try Folder.synchronize(parentOf: layout.collection(id))
            try forget(id)
        }
    }

    /// Returns the collection with an id, else with the only id that starts with `text`, or the only title that equals
    /// it.
    ///
    /// - Throws: `StoreError`: `notFound`, or `ambiguous` with the candidates.
    package func collection(matching text: String) throws -> ArchiveCollection {
        if let id = ArchiveID(text), let collection = try collection(id: id) { return collection }
        let id = try NameLookup(try names(), of: "collection").id(matching: text, hint: Self.listHint)
        guard let collection = try collection(id: id) else { throw Resolver.wasRemoved(id) }
        return collection
    }

    /// Returns all collections, newest first, each with its members.
    package func details() throws -> [CollectionDetails] {
        try all().map(details)
    }

    package func details(of collection: ArchiveCollection) throws -> CollectionDetails {
        CollectionDetails(
            collection: collection,
            members: try members(of: collection).map { $0.observed(in: layout) })
    }

    /// Removes an archive from all collections. Requires the commit lock.
    func removeFromAll(_ id: ArchiveID) throws {
        for var collection in try collections(of: id) {
            collection.members.removeAll { $0 == id }
            try save(collection)
        }
    }

    /// Writes a collection's document, then its row in the catalog. Requires the commit lock.
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
                    ? "run `replayhost list` to see all archives" : "this is a collection; add its archives instead")
        }
    }

    static func idTaken(_ id: ArchiveID) -> StoreError {
        StoreError(.taken, "the id \"\(id)\" is already in use", hint: "choose another, or omit it to get a free one")
    }

    private static func noCollection(_ text: String) -> StoreError {
        StoreError(
            .notFound, "no collection has the id \"\(text)\"",
            hint: listHint)
    }

    private static let listHint = "run `replayhost collection list` to see all collections"

    private static func unique(_ ids: [ArchiveID]) -> [ArchiveID] {
        var seen: Set<ArchiveID> = []
        return ids.filter { seen.insert($0).inserted }
    }
}
