import Crypto
import Foundation
import GRDB
import WebArchive

/// The ports that an archive or a collection may use.
package struct PortChoices: Sendable, Hashable {
    /// The port that it has.
    package let assigned: Int?
    /// Ports that nothing in this store ever had, in the order in which to try them.
    package let others: [Int]
}

/// The ports of archives, of collections and of the library.
package struct Ports: Sendable {
    let store: ArchiveStore

    private var catalog: Catalog { store.catalog }
    private var layout: StoreLayout { store.layout }

    /// The range of archive ports: below the ephemeral ports of operating systems (RFC 6335 §6, Linux), and without
    /// those that browsers block (Fetch §2.9, "bad port").
    package static let range = 16_384..<32_768

    /// Returns the ports that an archive or a collection may use.
    ///
    /// They are derived from its content, so that other stores with the same archive try the same ones.
    ///
    /// - Throws: `StoreError` `documentDamaged`.
    package func choices(for replayable: Replayable) throws -> PortChoices {
        try choices(mark: replayable.portMark, assigned: replayable.port)
    }

    /// Returns the ports that the stock interface may use.
    package func stockChoices() throws -> PortChoices {
        try choices(mark: "stock", assigned: PortLedger.read(layout).stock)
    }

    private func choices(mark: String, assigned: Int?) throws -> PortChoices {
        let holders = try holders()
        let ledger = try PortLedger.read(layout)
        let given = Set(ledger.given).union(holders.keys)
        let start = SHA256.hash(data: Data(mark.utf8)).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let others = (0..<Self.range.count).lazy
            .map { Self.range.lowerBound + (start + $0) % Self.range.count }
            .filter { !given.contains($0) }
        // If two were restored with the same port, neither may keep it.
        let assigned = assigned.flatMap { port in
            let count = (holders[port]?.count ?? 0) + (ledger.stock == port ? 1 : 0)
            return count == 1 && Self.range.contains(port) ? port : nil
        }
        return PortChoices(assigned: assigned, others: Array(others.prefix(Self.choicesMax)))
    }

    /// Reserves a port for the library. Refuses a port that an archive has or had, because pages of that archive would
    /// share the library's origin.
    ///
    /// - Throws: `StoreError` `taken`.
    package func reserveForLibrary(_ port: Int) throws {
        try layout.withCommitLock {
            var ledger = try PortLedger.read(layout)
            var former = ledger.library ?? []
            guard !former.contains(port) else { return }
            guard !ledger.given.contains(port), try holders()[port] == nil else {
                throw StoreError(
                    .taken, "port \(port) belongs or belonged to an archive in this store",
                    hint: "choose a port outside \(Self.range.lowerBound) to \(Self.range.upperBound - 1)")
            }
            guard Self.range.contains(port) else { return }
            former.append(port)
            ledger.library = former
            ledger.add(port)
            try ledger.write(layout)
        }
    }

    /// Assigns a port to the stock interface.
    package func assignToStock(_ port: Int) throws {
        try layout.withCommitLock {
            var ledger = try PortLedger.read(layout)
            ledger.add(port)
            ledger.stock = port
            try ledger.write(layout)
        }
    }

    /// Assigns a port to an archive or a collection.
    ///
    /// - Throws: `StoreError` `notFound` if it was removed meanwhile.
    package func assign(_ port: Int, to id: ArchiveID) throws {
        try layout.withCommitLock {
            guard let current = try store.resolver.replayable(id: id) else {
                throw StoreError(.notFound, "the archive \"\(id)\" was removed")
            }
            var ledger = try PortLedger.read(layout)
            ledger.add(port)
            if let former = current.port {
                ledger.add(former)
                for other in try holders()[former] ?? [] where other != id { try setPort(nil, of: other) }
            }
            try ledger.write(layout)
            try setPort(port, of: id)
        }
    }

    /// Records whose ports the server has open.
    ///
    /// - Parameter names: Ids of archives and collections, and `stock`.
    package func saveOpen(_ names: [String]) throws {
        try layout.withCommitLock {
            var ledger = try PortLedger.read(layout)
            ledger.open = names.sorted()
            try ledger.write(layout)
        }
    }

    /// Returns whose ports the last server had open.
    package func lastOpen() throws -> [String] { try PortLedger.read(layout).open }

    /// Returns the archives and collections of each port.
    func holders() throws -> [Int: [ArchiveID]] {
        try catalog.reading { database in
            var holders: [Int: [ArchiveID]] = [:]
            for row in try PortRow.fetchAll(database, sql: PortRow.query) {
                guard let id = ArchiveID(row.id) else { continue }
                holders[row.port, default: []].append(id)
            }
            return holders
        }
    }

    private func setPort(_ port: Int?, of id: ArchiveID) throws {
        switch try store.resolver.replayable(id: id) {
        case .archive(var archive):
            archive.port = port
            try store.committer.save(archive)
        case .collection(var collection, _):
            collection.port = port
            try store.collections.save(collection)
        case nil: break
        }
    }

    private static let choicesMax = 50
}

extension Replayable {
    /// The assigned replay port, in origin mode `ports`; `nil` if there is none.
    package var port: Int? {
        switch self {
        case .archive(let archive): archive.port
        case .collection(let collection, _): collection.port
        }
    }

    /// A text that identifies the archive or collection across stores.
    fileprivate var portMark: String {
        switch self {
        case .archive(let archive): "\(archive.id) \(archive.sha256 ?? archive.key)"
        case .collection(let collection, _): "\(collection.id) \(RFC3339.preciseText(of: collection.createdAt))"
        }
    }
}
