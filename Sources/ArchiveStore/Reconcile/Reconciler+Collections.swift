/// Groups: their documents are the truth.
extension Reconciler {
    mutating func reconcileCollections() throws {
        let stamps = try store.collections.stamps()
        var found: Set<String> = []
        for name in try Folder.names(in: layout.groups) {
            let path = "\(layout.groups)/\(name)"
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
            let group = try StoreDocument.read(GroupDocument.self, at: path).group(at: path)
            guard group.id == id, try catalog.archive(id: id) == nil else {
                report.problems.append("groups/\(id).json: the id \"\(group.id)\" belongs to something else")
                return
            }
            let before = try store.collections.group(id: id)
            if isKnown && before == group { return }
            try store.collections.put(group, documentStamp: StoreDocument.stamp(of: path))
            if before != group { report.updated.append(id) }
        } catch let error as StoreError where error.isDamagedDocument {
            // The catalog is the copy that is left.
            guard let group = try store.collections.group(id: id) else {
                report.problems.append("groups/\(id).json cannot be read: \(error)")
                return
            }
            try store.collections.save(group)
            report.restoredSidecars.append(id)
        }
    }

    /// A later archive must not get into a group by taking the id of one that is gone.
    private mutating func dropLostMembers() throws {
        // What could not be entered may be what is missing.
        guard report.problems.isEmpty else { return }
        for var group in try store.collections.all() {
            let members = try store.collections.members(of: group).map(\.id)
            guard members != group.members else { continue }
            group.members = members
            try store.collections.save(group)
            report.updated.append(group.id)
        }
    }
}
