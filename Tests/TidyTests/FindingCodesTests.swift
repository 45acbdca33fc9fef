import Foundation
import TestSupport
import Testing

/// docs/findings.md explains every code that the sources contain, and no other.
struct FindingCodesTests {
    /// How the sources write the codes of findings.
    private static var forms: [(folder: String, prefix: String, form: Regex<(Substring, Substring)>)] {
        [
            ("Sources/WebArchive", "", /\.(?:error|warning|notice),\s*"([a-z0-9]+(?:-[a-z0-9]+)+)"/),
            ("Sources/WebArchive", "", /\bcode: "([a-z0-9]+(?:-[a-z0-9]+)+)"/),
            ("Sources/ArchiveStore", "", /severity: \.\w+, code: "([a-z0-9-]+)"/),
            ("Sources/ArchiveSignature", "signature-", /\.add\(\s*\.\w+,\s*"([a-z0-9-]+)"/),
        ]
    }

    @Test func everyCodeIsExplained() throws {
        let page = try String(contentsOf: URL(fileURLWithPath: Checkout.path("docs/findings.md")), encoding: .utf8)
        let explained = Set(page.matches(of: /\n### `([a-z0-9-]+)`\n/).map { String($0.output.1) })
        #expect(explained.count > 60)
        var written: Set<String> = []
        var sources = ""
        for (folder, prefix, form) in Self.forms {
            let folder = URL(fileURLWithPath: Checkout.path(folder))
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift")
            {
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                sources += text
                written.formUnion(text.matches(of: form).map { prefix + $0.output.1 })
            }
        }
        #expect(written.subtracting(explained) == [], "not in docs/findings.md")
        // These two are put together: the part of a record that doesn't match.
        let known = ["block-digest", "payload-digest"]
        let unknown = explained.subtracting(written).subtracting(known).filter { code in
            !sources.contains("\"\(code)\"") && !sources.contains("\"\(code.replacing("signature-", with: ""))\"")
        }
        #expect(unknown == [], "not in the sources")
    }
}
