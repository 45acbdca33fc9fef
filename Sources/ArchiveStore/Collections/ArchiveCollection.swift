package import Foundation

/// Archives that are replayed as one: a page and what it needs come from whichever of them has the closest capture.
package struct ArchiveCollection: Sendable, Hashable {
    package var id: ArchiveID
    package var title: String
    package var notes: String
    package var tags: [String]
    /// In the order in which they were added.
    package var members: [ArchiveID]
    package var createdAt: Date
    /// The package of packages that it came from, by its file name; `nil` for a collection that a person made.
    package var originalName: String?
    /// Where it is replayed when each archive has a port of its own; `nil` until it was.
    package var port: Int?
}

/// `ID.json` in `collections/`. The catalog's collections are rebuilt from these.
struct CollectionDocument: Codable, Hashable {
    var format = 1
    var id: String
    var title: String
    var notes: String?
    var tags: [String]?
    var members: [String]
    /// RFC 3339, UTC, to the microsecond.
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

    /// - Throws: `StoreError` `unusable` for a document that another version wrote, or nobody.
    func collection(at path: String) throws -> ArchiveCollection {
        guard format == 1, let id = ArchiveID(id), let createdAt = RFC3339.date(createdAt) else {
            throw StoreError(.unusable, "the collection is not one that this version wrote", place: path)
        }
        return ArchiveCollection(
            id: id, title: title, notes: notes ?? "", tags: tags ?? [], members: members.compactMap { ArchiveID($0) },
            createdAt: createdAt, originalName: originalName, port: port)
    }
}
