package import Foundation

/// Archives that replay together: each part of a page comes from the capture closest in time.
package struct ArchiveCollection: Sendable, Hashable {
    package var id: ArchiveID
    package var title: String
    package var notes: String
    package var tags: [String]
    /// In the order in which they were added.
    package var members: [ArchiveID]
    package var createdAt: Date
    /// The name of the multi-WACZ file that the collection was imported from; `nil` for one that a person made.
    package var originalName: String?
    /// The collection's own replay port, in origin mode `ports`; `nil` until it was first replayed there.
    package var port: Int?
}

/// `ID.json` in `collections/`, from which the catalog's collections can be rebuilt.
struct CollectionDocument: Codable, Hashable {
    var format = 1
    var id: String
    var title: String
    var notes: String?
    var tags: [String]?
    var members: [String]
    /// RFC 3339, UTC, with microseconds.
    var createdAt: String
    var originalName: String?
    var port: Int?

    init(_ collection: ArchiveCollection) {
        id = collection.id.text
        title = collection.title
        notes = collection.notes.isEmpty ? nil : collection.notes
        tags = collection.tags.isEmpty ? nil : collection.tags
        members = collection.members.map(\.text)
        createdAt = RFC3339.preciseText(of: collection.createdAt)
        originalName = collection.originalName
        port = collection.port
    }

    /// - Throws: `StoreError` `unusable` for a document of an unknown format or with invalid values.
    func collection(at path: String) throws -> ArchiveCollection {
        guard format == 1, let id = ArchiveID(id), let createdAt = RFC3339.date(createdAt) else {
            throw StoreError(
                .unusable, "this version of replayhost can't read this collection", place: path,
                hint: "use the version that wrote it")
        }
        return ArchiveCollection(
            id: id, title: title, notes: notes ?? "", tags: tags ?? [], members: members.compactMap { ArchiveID($0) },
            createdAt: createdAt, originalName: originalName, port: port)
    }
}
