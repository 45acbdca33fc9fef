import Hummingbird
import NIOCore
import Synchronization
import WebArchive

/// The lines of an index query as an HTTP body: the first at once, then in batches, at the pace of the client.
///
/// Handed from thread to thread; one reads at a time.
final class CDXAnswer: Sendable {
    private let run: Mutex<CDXQueryRun>
    private let opening: String

    /// - Parameters:
    ///   - opening: What stands before the first line.
    ///   - isClientThere: Asked while lines that do not fit are passed over; the query ends when the client went away.
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

    /// Reads the first line, so that what is wrong with the query can still be said with a status.
    ///
    /// - Returns: The opening and the first line; `nil` when no line fits.
    func first() throws -> [UInt8]? {
        guard let line = try run.withLock({ try $0.next() }) else { return nil }
        return Array(opening.utf8) + line
    }

    /// The next lines; empty at the end.
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

    /// The body, once the first line was read.
    func body(first: [UInt8], blocking: BlockingWork) -> ResponseBody {
        ResponseBody { writer in
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
