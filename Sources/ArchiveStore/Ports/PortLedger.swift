/// `ports.json`: all ports that were ever assigned in this store.
///
/// Browsers keep the data that pages store by origin, which includes the port. So the port of one archive is never
/// assigned to another, even after the first was removed or moved to another port.
struct PortLedger: Codable, Hashable {
    private var format = 1
    private(set) var given: [Int] = []
    /// Archives and collections whose ports the server has open, or had open when it stopped.
    var open: [String] = []
    /// The port of the stock interface.
    var stock: Int?
    /// The ports that the library used.
    var library: [Int]?

    /// Adds what another list of this store has, except whose ports are open. It may be from outside.
    mutating func add(_ other: PortLedger) {
        for port in other.given where Ports.range.contains(port) { add(port) }
        if stock == nil, let port = other.stock, Ports.range.contains(port) { stock = port }
        let used = (other.library ?? []).filter { Ports.range.contains($0) && library?.contains($0) != true }
        if !used.isEmpty { library = (library ?? []) + used }
    }

    mutating func add(_ port: Int) {
        guard !given.contains(port) else { return }
        given.append(port)
        given.sort()
    }

    /// - Throws: `StoreError` `documentDamaged`.
    static func read(_ layout: StoreLayout) throws -> PortLedger {
        do {
            let ledger = try StoreDocument.read(PortLedger.self, at: layout.ports)
            guard ledger.format == 1 else {
                throw StoreError(
                    .documentDamaged, "this file was written by a newer version of replayhost", place: layout.ports)
            }
            return ledger
        } catch let error as StoreError where error.code == .notFound {
            return PortLedger()
        } catch let error as StoreError where error.isDamagedDocument {
            throw StoreError(
                error.code, error.what, place: error.place,
                hint: "delete it; ports of removed archives may then be reused")
        }
    }

    func write(_ layout: StoreLayout) throws { try StoreDocument.write(self, to: layout.ports) }
}
