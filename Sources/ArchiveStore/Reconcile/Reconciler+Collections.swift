extension Reconciler {
    mutating func reconcileCollections() throws {
        let stamps = try store.collections.stamps()
        var found: Set<String> = []
        for name in try Folder.names(in: layout.collections) {
            let path = "\(layout.collections)/\(name)"
            if name.hasSuffix(StoreDocument.temporarySuffix) {
                try Folder.delete(path)
                report.sweptSidecars += 1
            } else if name.hasSuffix(StoreLayout.sidecarSuffix), let id = ArchiveID(name.dropLast(5)) {
                found.insert(id.text)
                let isKnown = stamps[id.text] != nil && stamps[id.text] == StoreDocument.stamp(of: path)
                if isKnown && !readsAll { continue }
                try reconcileCollection(id, at: path, isKnown: isKnown)
            }
        }
        for name in stamps.keys.sorted() where !found.contains(name) {
            guard let id = ArchiveID(name) else { continue }
            try store.collections.forget(id)
            report.updated.append(id)
        }
        try dropLostMembers()
    }

    private mutating func reconcileCollection(_ id: ArchiveID, at path: String, isKnown: Bool) throws {
        do {
            let collection = try StoreDocument.read(CollectionDocument.self, at: path).collection(at: path)
            guard collection.id == id, try catalog.archive(id: id) == nil else {
                report.problems.append("collections/\(id).json: the id \"\(collection.id)\" is already in use")
                return
            }
            let before = try store.collections.collection(id: id)
            if isKnown && before == collection { return }
            try store.collections.put(collection, documentStamp: StoreDocument.stamp(of: path))
            if before != collection { report.updated.append(id) }
        } catch let error as StoreError where error.isDamagedDocument {
            // The catalog has the remaining copy.
            guard let collection = try store.collections.collection(id: id) else {
                report.problems.append("collections/\(id).json can't be read: \(error)")
                return
            }
            try store.collections.save(collection)
            report.restoredSidecars.append(id)
        }
    }

    /// Removes lost members, so that a later archive with the same id doesn't become a member.
    private mutating func dropLostMembers() throws {
        // A missing archive may be one that couldn't be adopted.
        guard report.problems.isEmpty else { return }
        for var collection in try store.collections.withLostMembers() {
            collection.members = try store.collections.members(of: collection).map(\.id)
            try store.collections.save(collection)
            report.updated.append(collection.id)
        }
    }
}
