/// The captures that were counted in several archives, so that their copies aren't counted again. Use it from one thread.
package final class DistinctCaptures {
    /// A hash with the process's random seed takes 8 bytes, and the same hash of two captures isn't to be expected.
    private var hashes: Set<Int> = []

    package init() {}

    /// Returns whether the capture isn't a copy of one before.
    package func insert(_ entry: CDXJEntry) -> Bool {
        hashes.count >= Self.capturesMax || hashes.insert(entry.copyIdentity.hashValue).inserted
    }

    /// The maximum number of captures to remember. Copies of others are counted as captures.
    private static let capturesMax = 1_000_000
}
