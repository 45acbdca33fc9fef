#if WITH_RE2
import RE2Shim

/// A regular expression in RE2 syntax. Matching takes linear time for every pattern.
///
/// Source: https://github.com/google/re2/wiki/Syntax. Like Perl, but without back references and look-around, which
/// need backtracking.
final class RegularExpression: Sendable {
    /// The pointer to the compiled pattern, which is immutable and thread-safe.
    private let handle: UInt

    /// - Parameter memoryMax: The maximum memory for the compiled pattern and its caches, in bytes.
    init(_ text: String, memoryMax: Int) throws(Problem) {
        var message = [CChar](repeating: 0, count: 256)
        var text = text
        let made = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                re2_shim_compile($0.baseAddress, $0.count, Int64(memoryMax), &message, message.count)
            }
        }
        guard let made else {
            let end = message.firstIndex(of: 0) ?? message.endIndex
            let what = String(decoding: message[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw Problem(what: what.isEmpty ? "it takes too much memory" : what)
        }
        handle = UInt(bitPattern: made)
    }

    deinit { re2_shim_free(pattern) }

    private var pattern: OpaquePointer? { OpaquePointer(bitPattern: handle) }

    /// Returns the captured groups of the first match in `text`, or `nil` without a match. Unmatched groups are empty.
    func groups(in text: [UInt8]) -> [ArraySlice<UInt8>]? {
        var places = [Int](repeating: 0, count: 2 * Self.groupsMax)
        let count = text.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                re2_shim_groups(pattern, $0.baseAddress, $0.count, &places, Int32(Self.groupsMax))
            }
        }
        guard count >= 0 else { return nil }
        return (0..<Int(count)).map { text[places[2 * $0]..<places[2 * $0 + 1]] }
    }

    /// Returns whether the pattern matches anywhere in `text`.
    func finds(_ text: [UInt8]) -> Bool { groups(in: text) != nil }

    private static let groupsMax = 8

    /// Returns whether the pattern matches at the start of `text`.
    ///
    /// - Throws: `tooLarge` if memory runs out.
    func matchesStart(of text: [UInt8]) throws(WebArchiveError) -> Bool {
        let answer = text.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { re2_shim_matches_start(pattern, $0.baseAddress, $0.count) }
        }
        guard answer >= 0 else {
            throw WebArchiveError(
                code: .tooLarge, problem: "matching the regular expression takes too much memory", file: "filter")
        }
        return answer == 1
    }
}
#else
/// A placeholder for builds without RE2: untrusted patterns can't be matched in bounded time, so creating one throws.
struct RegularExpression: Sendable {
    init(_ text: String, memoryMax: Int) throws(Problem) {
        throw Problem(
            what: "this build doesn't include RE2", hint: "use a filter without \"~\"")
    }

    func groups(in text: [UInt8]) -> [ArraySlice<UInt8>]? { nil }
    func finds(_ text: [UInt8]) -> Bool { false }
    func matchesStart(of text: [UInt8]) throws(WebArchiveError) -> Bool { false }
}
#endif

extension RegularExpression {
    /// The reason why a pattern can't be used.
    struct Problem: Error {
        let what: String
        var hint: String?
    }
}
