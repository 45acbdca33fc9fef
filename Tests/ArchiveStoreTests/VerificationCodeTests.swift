import ArchiveSignature
import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import WebArchive

/// The results of verifications: which there are, and how they're decided.
struct VerificationCodeTests {
    typealias Code = VerificationCode

    /// A signature shows nothing unless all hashes agree, and hides nothing.
    @Test(arguments: [
        (Code.hashesAgree, nil, Code.hashesAgree), (.hashesAgree, Code.signed, .signed),
        (.hashesAgree, .signedAnonymously, .signedAnonymously), (.hashesAgree, .signerNotProven, .signerNotProven),
        (.hashesAgree, .invalidSignature, .invalidSignature), (.partly, .signed, .partly),
        (.partly, .signerNotProven, .signerNotProven), (.recordsDiffer, .signed, .recordsDiffer),
        (.recordsDiffer, .signerNotProven, .recordsDiffer), (.suspicious, .signed, .suspicious),
        (.suspicious, .invalidSignature, .invalidSignature), (.unreplayable, .signed, .unreplayable),
        (.unreplayable, .invalidSignature, .invalidSignature), (.damaged, .signed, .damaged),
        (.damaged, .invalidSignature, .damaged),
    ])
    func codeIsTheWorseOfContentsAndSignature(contents: Code, signature: Code?, expected: Code) {
        #expect(Code(contents: contents, signature: signature) == expected)
    }

    @Test func fileThatIsNotThereHasNoResult() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        #expect(archive.verificationCode(.available) == .notVerified)
        #expect(archive.verificationCode(.changed) == .changed)
        #expect(archive.verificationCode(.unavailable) == nil && archive.verificationCode(.missing) == nil)
    }

    /// The app, the documentation and the description of the API have these codes, with these words, and no others.
    @Test func wordsAreTheSameEverywhere() throws {
        func text(_ path: String) throws -> String { try String(contentsOfFile: Checkout.path(path), encoding: .utf8) }
        let words = Dictionary(
            uniqueKeysWithValues: Code.allCases.map { ($0.rawValue, $0.words(signer: "example.org")) })

        let messages = try text("www/app/messages/en/shell.js").matches(of: /"trust\.mark\.([a-z-]+)": "(.+)",/)
        let ofApp = messages.map { (String($0.1), $0.2.replacingOccurrences(of: "{signer}", with: "example.org")) }
        #expect(Dictionary(uniqueKeysWithValues: ofApp) == words)

        let rows = try text("docs/verify.md").matches(of: /\| `([a-z-]+)` \| (?:[✓⚠✕] )?\*\*(.+?)\*\* \|/)
        #expect(Dictionary(uniqueKeysWithValues: rows.map { (String($0.1), String($0.2)) }) == words)

        let description = try text("www/openapi.json")
        let schema = try #require(description.firstMatch(of: /"VerificationCode": \{\s+"enum": \[([^\]]+)\]/))
        #expect(Set(schema.1.matches(of: /"([a-z-]+)"/).map { String($0.1) }) == Set(words.keys))
    }
}
