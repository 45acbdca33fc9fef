/// The state of a store at one moment: everything that a backup needs except the files.
struct BackupSnapshot {
    /// An archive and its sidecar.
    struct Item {
        let archive: Archive
        let sidecar: Sidecar
    }

    let madeAt: String
    /// In import order.
    let items: [Item]
    let collections: [CollectionDocument]
    /// `nil` if the list of ports is damaged.
    let ports: PortLedger?
    /// Archives whose sidecar has an unknown format.
    let unreadable: [ArchiveID]
    /// What couldn't be read.
    let problems: [StoreError]
}

extension BackupSnapshot {
    /// Reads sidecars and collections under the commit lock, so that no import or removal comes in between.
    ///
    /// - Parameter checkCancellation: Called while another process holds the lock; throws to stop.
    init(of store: ArchiveStore, checkCancellation: () throws -> Void) throws {
        self = try store.layout.withCommitLock(checkCancellation: checkCancellation) {
            let archives = try store.catalog.allArchives()
            var (problems, unreadable): ([StoreError], [ArchiveID]) = ([], [])
            let items = try archives.reversed().compactMap { archive -> Item? in
                do {
                    return Item(archive: archive, sidecar: try Self.savedSidecar(of: archive, store.layout))
                } catch let error as StoreError where error.code == .unusable {
                    problems.append(error)
                    unreadable.append(archive.id)
                    return nil
                }
            }
            let known = Set(archives.map(\.key))
            for key in try FileInventory(store.layout).files.subtracting(known).sorted() {
                problems.append(
                    StoreError(
                        .archiveDamaged, "this file isn't in the catalog and was left out of the backup",
                        place: store.layout.file(key), hint: "run `replayhost doctor` to find out why"))
            }
            let collections = try Self.savedCollections(store, &problems)
            var ports: PortLedger?
            do {
                ports = try PortLedger.read(store.layout)
            } catch let error as StoreError where error.isDamagedDocument {
                problems.append(error)
            }
            return BackupSnapshot(
                madeAt: RFC3339.preciseText(of: RFC3339.now()), items: items, collections: collections, ports: ports,
                unreadable: unreadable, problems: problems)
        }
    }

    /// Returns the archive's sidecar, or one made from the catalog if that is lost, damaged or unreadable.
    private static func savedSidecar(of archive: Archive, _ layout: StoreLayout) throws -> Sidecar {
        do {
            return try Sidecar.read(at: layout.sidecar(archive.key))
        } catch let error as StoreError where error.code != .unusable {
            return Sidecar(archive)
        }
    }

    private static func savedCollections(
        _ store: ArchiveStore, _ problems: inout [StoreError]
    ) throws -> [CollectionDocument] {
        let layout = store.layout
        var collections = Dictionary(try store.collections.all().map { ($0.id, CollectionDocument($0)) }) { first, _ in
            first
        }
        for name in try Folder.names(in: layout.collections) where name.hasSuffix(StoreLayout.sidecarSuffix) {
            guard let id = ArchiveID(name.dropLast(StoreLayout.sidecarSuffix.count)) else { continue }
            do {
                let document = try StoreDocument.read(CollectionDocument.self, at: layout.collection(id))
                _ = try document.collection(at: layout.collection(id))
                collections[id] = document
            } catch let error as StoreError where error.isDamagedDocument && collections[id] != nil {
                // The catalog has the remaining copy.
            } catch let error as StoreError where error.isDamagedDocument || error.code == .unusable {
                problems.append(error)
            }
        }
        return collections.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }
}
