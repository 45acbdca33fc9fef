import Hummingbird
import NIOCore
import Synchronization
import WebArchive

/// The lines of an index query as an HTTP body, sent in batches with backpressure.
///
/// Can be used from any thread, one at a time.
final class CDXAnswer: Sendable {
    private let run: Mutex<CDXQueryRun>
    private let opening: String

    /// - Parameters:
    ///   - opening: The text before the first line.
    ///   - isClientThere: Called during the search; returns `false` to end the query.
    init(
        _ query: CDXQuery, sources: [CDXQuerySource], namesSources: Bool, temporaryFolder: String,
        opening: String = "", mementoURL: (@Sendable (String, String, String) -> String)? = nil,
        isClientThere: @escaping @Sendable () -> Bool
    ) {
        self.opening = opening
        run = Mutex(
            CDXQueryRun(
                query, sources: sources, namesSources: namesSources, temporaryFolder: temporaryFolder,
                mementoURL: mementoURL, progress: isClientThere))
    }

    /// Returns the next lines; empty at the end.
    private func batch() throws -> [UInt8] {
        try run.withLock { run in
            var bytes: [UInt8] = []
            let start = ContinuousClock.now
            while bytes.count < Self.batchBytes, let line = try run.next() {
                bytes += line
                if ContinuousClock.now - start > Self.batchTime { break }
            }
            return bytes
        }
    }

    /// Reads the first line before the response starts, so that errors in the query still get a status.
    ///
    /// - Returns: The opening and the lines; `nil` if there are no lines.
    func body(blocking: BlockingWork) throws -> ResponseBody? {
        let (line, isAtEnd) = try run.withLock { (try $0.next(), $0.isAtEnd) }
        guard let line else { return nil }
        let first = Array(opening.utf8) + line
        if isAtEnd { return ResponseBody(byteBuffer: ByteBuffer(bytes: first)) }
        return ResponseBody { writer in
            try await writer.write(ByteBuffer(bytes: first))
            while true {
                let bytes = try await blocking.long { try self.batch() }
                if bytes.isEmpty { break }
                try await writer.write(ByteBuffer(bytes: bytes))
            }
            try await writer.finish(nil)
        }
    }

    private static let batchBytes = 64 << 10
    private static let batchTime = Duration.milliseconds(100)
}
