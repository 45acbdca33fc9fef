import Crypto
import Foundation
import GRDB
import WebArchive

/// The ports on which something may be replayed, when everything in the store has one of its own.
package struct PortChoices: Sendable, Hashable {
    /// The one that it has.
    package let own: Int?
    /// Those that nothing in this store ever had, in the order to try them.
    package let others: [Int]
}

/// The ports of archives, of collections and of the library.
package struct Ports: Sendable {
    let store: ArchiveStore

    private var catalog: Catalog { store.catalog }
    private var layout: StoreLayout { store.layout }

    /// Where ports of archives are taken from: below those that systems hand out for connections by themselves (RFC 6335 §6 and
    /// Linux), and none of those that browsers refuse to open (Fetch §2.9, "bad port").
    package static let range = 16_384..<32_768

    /// The ports on which an archive or collection may be replayed.
    ///
    /// They depend on what it is alone: another store with the same archive tries the same ones.
    ///
    /// - Throws: `StoreError` `documentDamaged`.
    package func choices(for replayable: Replayable) throws -> PortChoices {
        try choices(mark: replayable.portMark, kept: replayable.port)
    }

    /// The ports on which the stock interface may be.
    package func stockChoices() throws -> PortChoices {
        try choices(mark: "stock", kept: PortLedger.read(layout).stock)
    }

    private func choices(mark: String, kept: Int?) throws -> PortChoices {
        let holders = try holders()
        let ledger = try PortLedger.read(layout)
        let given = Set(ledger.given).union(holders.keys)
        let start = SHA256.hash(data: Data(mark.utf8)).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let others = (0..<Self.range.count).lazy
            .map { Self.range.lowerBound + (start + $0) % Self.range.count }
            .filter { !given.contains($0) }
        // Two that were restored with one port: neither may keep it.
        let own = kept.flatMap { port in
            let count = (holders[port]?.count ?? 0) + (ledger.stock == port ? 1 : 0)
            return count == 1 && Self.range.contains(port) ? port : nil
        }
        return PortChoices(own: own, others: Array(others.prefix(Self.choicesMax)))
    }

    /// Takes a port for the library. One that an archive has, or had, is not for it: pages of that archive would be of its origin.
    ///
    /// - Throws: `StoreError` `taken`.
    package func keepLibrary(_ port: Int) throws {
        try layout.withCommitLock {
            var ledger = try PortLedger.read(layout)
            var former = ledger.library ?? []
            guard !former.contains(port) else { return }
            guard !ledger.given.contains(port), try holders()[port] == nil else {
                throw StoreError(
                    .taken, "port \(port) is, or was, that of an archive of this store",
                    hint: "choose one that is not from \(Self.range.lowerBound) to \(Self.range.upperBound - 1)")
            }
            guard Self.range.contains(port) else { return }
            former.append(port)
            ledger.library = former
            ledger.add(port)
            try ledger.write(layout)
        }
    }

    /// Writes down which port the stock interface has.
    package func keepStock(_ port: Int) throws {
        try layout.withCommitLock {
            var ledger = try PortLedger.read(layout)
            ledger.add(port)
            ledger.stock = port
            try ledger.write(layout)
        }
    }

    /// Writes down which port something has: first that it was given, then whose it is.
    ///
    /// - Throws: `StoreError` `notFound` when somebody removed it meanwhile.
    package func keep(_ port: Int, for id: ArchiveID) throws {
        try layout.withCommitLock {
            guard let current = try store.resolver.replayable(id: id) else {
                throw StoreError(.notFound, "no archive has the id \"\(id)\" any more")
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

    /// Writes down whose ports the server has open.
    ///
    /// - Parameter names: Ids of archives and collections, and `stock`, which is no id.
    package func keepOpen(_ names: [String]) throws {
        try layout.withCommitLock {
            var ledger = try PortLedger.read(layout)
            ledger.open = names.sorted()
            try ledger.write(layout)
        }
    }

    /// What a server on this store had open last.
    package func open() throws -> [String] { try PortLedger.read(layout).open }

    /// Which archives and collections have which port.
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
    /// Where it is replayed when each archive has a port of its own; `nil` until it was.
    package var port: Int? {
        switch self {
        case .archive(let archive): archive.port
        case .collection(let collection, _): collection.port
        }
    }

    /// Tells it from everything else, here and in other stores.
    fileprivate var portMark: String {
        switch self {
        case .archive(let archive): "\(archive.id) \(archive.sha256 ?? archive.key)"
        case .collection(let collection, _): "\(collection.id) \(RFC3339.preciseText(of: collection.createdAt))"
        }
    }
}
