import CommandSupport

/// Buffers standard output, for 100 ms at most.
struct BatchedOutput {
    /// Whether no line was appended.
    private(set) var isEmpty = true
    private let isOfRows: Bool
    private var bytes: [UInt8] = []
    private var writtenAt: ContinuousClock.Instant?
    private static let bytesMax = 64 << 10
    private static let delayMax = Duration.milliseconds(100)

    /// - Parameter isOfRows: Whether the lines have gaps between parts that `Terminal.safe` made.
    init(ofRows isOfRows: Bool) { self.isOfRows = isOfRows }

    mutating func append(_ line: [UInt8]) {
        isEmpty = false
        bytes += line
        guard bytes.count < Self.bytesMax, let writtenAt, ContinuousClock.now - writtenAt < Self.delayMax else {
            return flush()
        }
    }

    mutating func flush() {
        Terminal.writeLines(bytes, areRows: isOfRows)
        bytes.removeAll(keepingCapacity: true)
        writtenAt = .now
    }
}
