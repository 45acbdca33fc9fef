/// The ports that were ever given to something in this store: the file `ports.json`.
///
/// A browser keeps what the pages of an archive have stored by port. So a port that one archive had is never given to another,
/// also when the first has got another port since, or was removed.
struct PortLedger: Codable, Hashable {
    private var format = 1
    private(set) var given: [Int] = []
    /// Archives and collections whose ports the server has open, or had when it ended: pages there may be open still.
    var open: [String] = []
    /// Where the stock interface is, once it was.
    var stock: Int?
    /// Those of them that the library itself was on.
    var library: [Int]?

    init() {}

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
                throw StoreError(.documentDamaged, "the file is of a newer version of replayhost", place: layout.ports)
            }
            return ledger
        } catch let error as StoreError where error.code == .notFound {
            return PortLedger()
        } catch let error as StoreError where error.isDamagedDocument {
            throw StoreError(
                error.code, error.what, place: error.place,
                hint: "delete it: then ports of archives that were removed can be given again")
        }
    }

    func write(_ layout: StoreLayout) throws { try StoreDocument.write(self, to: layout.ports) }
}
