package import ArchiveStore
package import CaptureAPI

/// The collection that an archive is added to.
package enum WantedCollection {
    /// Returns what is wrong with the ID of a wanted collection; `nil` if there is one.
    package static func problem(_ text: String, in store: ArchiveStore) throws -> FieldProblem? {
        if let id = ArchiveID(text), try store.collections.collection(id: id) != nil { return nil }
        return FieldProblem(["body", "options", "collection"], "There is no collection with this ID")
    }

    /// Adds an archive to the collection. Does nothing if it's in there already.
    ///
    /// - Returns: Why it can't be added; `nil` if it's in there, or none is wanted.
    static func add(_ archive: ArchiveID, to text: String?, in store: ArchiveStore) throws -> String? {
        guard let text else { return nil }
        do {
            guard let id = ArchiveID(text) else { throw StoreError(.notFound, "no collection has this id") }
            try store.collections.edit(id, ArchiveMetadata()) { $0 + [archive] }
            return nil
        } catch let error as StoreError where error.code == .notFound {
            return "The archive isn't in the collection \(text), which was removed meanwhile."
        }
    }
}
