/// Asks a caller now and then whether it still wants the result of a lookup or a query. Belongs to one thread.
package final class CancellationCheck {
    private let isWanted: () -> Bool
    private var steps = 0
    private static let stepsBetween = 1024

    /// - Parameter isWanted: Asked once per archive, and once every 1,024 index lines.
    package init(_ isWanted: @escaping () -> Bool = { true }) {
        self.isWanted = isWanted
    }

    /// Counts an index line.
    ///
    /// - Throws: `cancelled`.
    func step() throws(WebArchiveError) {
        steps += 1
        if steps.isMultiple(of: Self.stepsBetween) { try now() }
    }

    /// - Throws: `cancelled`.
    package func now() throws(WebArchiveError) {
        guard isWanted() else {
            throw WebArchiveError(code: .cancelled, problem: "the caller asked to stop", file: "cdx")
        }
    }
}
