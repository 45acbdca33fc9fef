import GRDB

extension Catalog {
    /// Which archives and groups have which port.
    func portHolders() throws -> [Int: [ArchiveID]] {
        try reading { database in
            var holders: [Int: [ArchiveID]] = [:]
            for row in try PortRow.fetchAll(database, sql: PortRow.query) {
                guard let id = ArchiveID(row.id) else { continue }
                holders[row.port, default: []].append(id)
            }
            return holders
        }
    }
}
