import Synchronization

/// What reading the records of one archive may cost in one step: an import, the index of its text, a verification, an
/// export, a request.
///
/// It travels with the archive that the step reads, and is charged where the cost arises, so that all parts of the step
/// share it: each stream that decompresses charges what it produces, also what is then skipped. Real archives stay far
/// below: their documents compress 3 to 20 times, and are read a few times.
public final class Allowance: Sendable {
    /// The number of decompressed bytes that may still be produced.
    private let bytesLeft: Atomic<UInt64>

    /// Creates the allowance of a step.
    ///
    /// - Parameter size: The size of the archive's file, or of the file that becomes one.
    public convenience init(archiveSize size: UInt64, limits: Limits = .standard) {
        self.init(
            parsedBytes: size.multipliedSaturated(by: limits.inflationRatioMax)
                .addingSaturated(limits.parsedBytesAlwaysAllowed))
    }

    /// Creates an allowance of bytes that are parsed.
    package convenience init(parsedBytes: UInt64) {
        self.init(bytes: parsedBytes.multipliedSaturated(by: Self.bytesPerParsedByte))
    }

    /// Creates an allowance of decompressed bytes.
    package init(bytes: UInt64) {
        bytesLeft = Atomic(bytes)
    }

    /// Whether nothing more can be read.
    package var isUsedUp: Bool { bytesLeft.load(ordering: .relaxed) == 0 }

    /// The number of bytes that can still be parsed.
    package var parsedBytesLeft: UInt64 { bytesLeft.load(ordering: .relaxed) / Self.bytesPerParsedByte }

    /// Charges bytes that were decompressed.
    ///
    /// - Throws: `tooCostly` if there was less left.
    func charge(_ count: Int, file: String) throws(WebArchiveError) {
        guard take(UInt64(count)) else { throw Self.usedUp(file) }
    }

    /// Charges bytes of documents or headers that are parsed, which takes longer than to decompress them.
    ///
    /// - Throws: `tooCostly` if there was less left.
    func charge(parsed count: Int, file: String) throws(WebArchiveError) {
        guard take(UInt64(count).multipliedSaturated(by: Self.bytesPerParsedByte)) else { throw Self.usedUp(file) }
    }

    /// Charges what takes as long as to parse bytes. If there was less left, the next charge throws.
    package func charge(parsed count: UInt64) {
        _ = take(count.multipliedSaturated(by: Self.bytesPerParsedByte))
    }

    private static func usedUp(_ file: String) -> WebArchiveError {
        WebArchiveError(
            code: .tooCostly, problem: "reading the rest would exceed the limit for an archive of this size", file: file
        )
    }

    /// Takes bytes; all that are left if there are fewer.
    ///
    /// - Returns: `false` if there were fewer.
    private func take(_ count: UInt64) -> Bool {
        var left = bytesLeft.load(ordering: .relaxed)
        while true {
            let rest = left - min(left, count)
            let (isDone, now) = bytesLeft.compareExchange(expected: left, desired: rest, ordering: .relaxed)
            if isDone { return left >= count }
            left = now
        }
    }

    /// How many bytes can be decompressed in about the time in which one is parsed.
    private static let bytesPerParsedByte: UInt64 = 16
}
