import ArchiveStore
import Foundation
import Synchronization

/// The log of a download, to which all of its attempts append: what was run, and what the tools said.
package final class AttemptLog: Sendable {
    /// The maximum size of a log in bytes.
    package static let bytesMax = 5 << 20
    private static let lineBytesMax = 4 << 10

    private struct State {
        var size: Int
        var isFull = false
    }
    private let file: Descriptor
    private let state: Mutex<State>
    private let redaction: Redaction

    init(path: String, redaction: Redaction) throws {
        self.redaction = redaction
        file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_APPEND)
        state = Mutex(State(size: Int(clamping: try file.size())))
    }

    /// Adds a line. A log that can't be written doesn't stop the attempt.
    func add(_ text: String, from source: String = "worker") {
        guard !state.withLock({ $0.isFull }) else { return }
        let safe = redaction.redacted(String(decoding: text.utf8.prefix(Self.lineBytesMax), as: UTF8.self))
            .unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
        let line = Array("\(Date().formatted(.iso8601)) \(source): \(safe)\n".utf8)
        state.withLock { state in
            guard !state.isFull else { return }
            let end = Array("The log is full; what follows is left out.\n".utf8)
            state.isFull = state.size + line.count + end.count > Self.bytesMax
            let bytes = state.isFull ? end : line
            state.size += bytes.count
            try? bytes.withUnsafeBytes { try file.append($0) }
        }
    }
}

/// Removes what must not be in a log or a message: log-ins, and parameters of signed URLs.
struct Redaction: Sendable {
    /// Texts that must not appear: the values of cookies.
    private let secrets: [String]

    /// - Parameter cookies: The contents of a cookies.txt.
    init(cookies: String = "") {
        let values = cookies.split(whereSeparator: \.isNewline).compactMap { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).dropFirst(6).first.map(String.init)
        }
        // Short values, such as "1", are no secrets, and are part of other words.
        secrets = values.filter { $0.utf8.count >= 6 }
    }

    func redacted(_ text: String) -> String {
        let text = secrets.reduce(text) { $0.replacingOccurrences(of: $1, with: "[removed]") }
        return Self.patterns.reduce(text) { text, pattern in
            text.replacingOccurrences(of: pattern.form, with: pattern.replacement, options: .regularExpression)
        }
    }

    private static let patterns: [(form: String, replacement: String)] = [
        (#"(?i)\b((?:set-)?cookie2?|(?:proxy-)?authorization|x-api-key):.*"#, "$1: [removed]"),
        (#"(?i)(--(?:cookies|username|password|video-password|ap-password))[ =]\S+"#, "$1 [removed]"),
        // User information in a URL
        (#"(?<=://)[^/\s@]+@"#, "[removed]@"),
        (
            #"(?i)([?&](?:\w*sig|signature|\w*token|\w*key|auth\w*|expires?|policy|hmac|hdnts|password|session\w*|x-amz-[\w-]+)=)[^&\s"']+"#,
            "$1[removed]"
        ),
    ]
}
