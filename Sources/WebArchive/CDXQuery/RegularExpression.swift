import CRE2

/// A regular expression in RE2's syntax, matched in time linear in the text whatever the pattern.
///
/// Source: https://github.com/google/re2/wiki/Syntax. As in Perl, but without what needs backtracking: back references
/// and look-around.
final class RegularExpression {
    /// Why a pattern cannot be used.
    struct Problem: Error {
        let what: String
    }

    private let pattern: OpaquePointer

    /// - Parameter memoryMax: Bytes that the compiled pattern and its caches may take.
    init(_ text: String, memoryMax: Int) throws(Problem) {
        var message = [CChar](repeating: 0, count: 256)
        var text = text
        let made = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                cre2_compile($0.baseAddress, $0.count, Int64(memoryMax), &message, message.count)
            }
        }
        guard let made else {
            let end = message.firstIndex(of: 0) ?? message.endIndex
            let what = String(decoding: message[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw Problem(what: what.isEmpty ? "it takes too much memory" : what)
        }
        pattern = made
    }

    deinit { cre2_free(pattern) }

    /// Whether a match begins with the first byte of `text`; it may end before the last.
    ///
    /// - Throws: `tooLarge` when memory runs out.
    func matchesStart(of text: [UInt8]) throws(WebArchiveError) -> Bool {
        let answer = text.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { cre2_matches_start(pattern, $0.baseAddress, $0.count) }
        }
        guard answer >= 0 else {
            throw WebArchiveError(
                code: .tooLarge, problem: "matching the regular expression takes too much memory", file: "filter")
        }
        return answer == 1
    }
}
