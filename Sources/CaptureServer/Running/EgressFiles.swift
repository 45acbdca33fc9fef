import ArchiveStore
import EgressGuard
import Foundation
import Logging

/// `egress.jsonl` of a session: the connections of one attempt.
final class EgressLog: Sendable {
    private let file: Descriptor

    /// - Parameter file: An empty file.
    init(_ file: Descriptor) { self.file = file }

    /// Writes an event at once: the worker reads it. On a full disk it is lost.
    func add(_ event: EgressEvent) {
        guard var line = try? JSONEncoder().encode(event) else { return }
        line.append(UInt8(ascii: "\n"))
        try? line.withUnsafeBytes { try file.append($0) }
    }
}

/// `egress.allow`: a host and a port of an intranet in each line. `#` begins a comment.
struct EgressAllowFile {
    let allowed: Set<EgressRules.Exception>
    /// The numbers of lines that are something else.
    let invalidLines: [Int]
    private static let bytesMax = 1 << 20

    /// Reads the file, if there is one.
    ///
    /// - Throws: What `Descriptor.contents(of:bytesMax:)` throws; the file has at most 1 MiB.
    init(path: String) throws(StoreError) {
        let bytes = Folder.hasName(path) ? try Descriptor.contents(of: path, bytesMax: Self.bytesMax) : []
        let text = String(decoding: bytes, as: UTF8.self)
        var allowed: Set<EgressRules.Exception> = []
        var invalidLines: [Int] = []
        for (index, line) in text.linesWithEmptyOnes.enumerated() {
            let entry = line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
            if entry.isEmpty { continue }
            if let exception = EgressRules.Exception(entry) {
                allowed.insert(exception)
            } else {
                invalidLines.append(index + 1)
            }
        }
        (self.allowed, self.invalidLines) = (allowed, invalidLines)
    }

    /// Returns what the file allows, and warns of what can't be read.
    static func allowed(at path: String, _ logger: Logger) -> Set<EgressRules.Exception> {
        do {
            let file = try EgressAllowFile(path: path)
            if !file.invalidLines.isEmpty {
                let lines = file.invalidLines.map(String.init).joined(separator: ", ")
                logger.warning("egress.allow: lines that aren't HOST:PORT are ignored", metadata: ["lines": "\(lines)"])
            }
            return file.allowed
        } catch {
            logger.warning("egress.allow can't be read, so it allows nothing", metadata: ["reason": "\(error)"])
            return []
        }
    }
}
