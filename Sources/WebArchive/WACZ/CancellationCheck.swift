/// Checks regularly whether a lookup or a query has been cancelled. Use it from one thread at a time.
package final class CancellationCheck {
    private let isWanted: () -> Bool
    private var steps = 0
    private static let stepsBetween = 1024

    /// - Parameter isWanted: Called once per archive, and once every 1,024 index lines; returns whether to continue.
    package init(_ isWanted: @escaping () -> Bool = { true }) {
        self.isWanted = isWanted
    }

    /// Counts an index line, and checks for cancellation every 1,024 lines.
    ///
    /// - Throws: `cancelled`.
    func step() throws(WebArchiveError) {
        steps += 1
        if steps.isMultiple(of: Self.stepsBetween) { try now() }
    }

    /// Checks for cancellation.
    ///
    /// - Throws: `cancelled`.
    package func now() throws(WebArchiveError) {
        guard isWanted() else {
            throw WebArchiveError(code: .cancelled, problem: "the operation was cancelled", file: "cdx")
        }
    }
}
