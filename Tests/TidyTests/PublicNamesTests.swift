import Foundation
import TestSupport
import Testing

/// What other programs can use of the two libraries. A change of it shows in the golden file: RECORD_GOLDEN=1 rewrites that.
struct PublicNamesTests {
    @Test(arguments: ["ReplayHostKit", "WebArchive"])
    func namesAreThoseThatWereRead(library: String) throws {
        let names = TidyTests.sources.filter { $0.path.hasPrefix("Sources/\(library)/") }.flatMap { file in
            file.code.map { $0.text.trimmed }.filter { $0.hasPrefix("public ") && !$0.hasPrefix("public import ") }
                .map { "\(file.path.dropFirst("Sources/\(library)/".count)): \($0.dropFirst("public ".count).head)" }
        }
        let file = TidyTests.checkout.appendingPathComponent("Tests/TidyTests/Golden/public-\(library).txt").path
        let difference = try Golden.difference(names.joined(separator: "\n") + "\n", file: file)
        #expect(difference == nil)
    }
}

extension StringProtocol {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }

    /// The declaration, without the body that may follow in its line.
    fileprivate var head: String {
        var text = components(separatedBy: " {")[0]
        while text.hasSuffix(" ") || text.hasSuffix("{") { text.removeLast() }
        return text
    }
}
