#if WITH_RE2
import RE2Shim
#endif

#if WITH_RE2
/// A regular expression in RE2's syntax, matched in time linear in the text whatever the pattern.
///
/// Source: https://github.com/google/re2/wiki/Syntax. As in Perl, but without what needs backtracking: back references
/// and look-around.
final class RegularExpression: Sendable {
    /// Where the compiled pattern is: immutable, and made to be used by several threads at once.
    private let address: UInt

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
        address = UInt(bitPattern: made)
    }

    deinit { cre2_free(pattern) }

    private var pattern: OpaquePointer? { OpaquePointer(bitPattern: address) }

    /// What the groups of the first match in `text` caught, each empty when it took no part; `nil` when nothing matches.
    func groups(in text: [UInt8]) -> [ArraySlice<UInt8>]? {
        var places = [Int](repeating: 0, count: 2 * Self.groupsMax)
        let count = text.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                cre2_groups(pattern, $0.baseAddress, $0.count, &places, Int32(Self.groupsMax))
            }
        }
        guard count >= 0 else { return nil }
        return (0..<Int(count)).map { text[places[2 * $0]..<places[2 * $0 + 1]] }
    }

    /// Whether a match is anywhere in `text`.
    func finds(_ text: [UInt8]) -> Bool { groups(in: text) != nil }

    private static let groupsMax = 8

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
#else
/// There is none: without RE2 a stranger's pattern cannot be matched in bounded time, so that none can be made.
struct RegularExpression: Sendable {
    init(_ text: String, memoryMax: Int) throws(Problem) {
        throw Problem(
            what: "this program was built without RE2, which would match it", hint: "use a filter without \"~\"")
    }

    func groups(in text: [UInt8]) -> [ArraySlice<UInt8>]? { nil }
    func finds(_ text: [UInt8]) -> Bool { false }
    func matchesStart(of text: [UInt8]) throws(WebArchiveError) -> Bool { false }
}
#endif

extension RegularExpression {
    /// Why a pattern cannot be used, and what to do when that is known.
    struct Problem: Error {
        let what: String
        var hint: String?
    }
}
