import Foundation
import Testing

/// Checks that words that readers misread, or that aren't the field's terms, don't come back.
///
/// `swift test --filter PlainEnglishTests` lists every line that has one.
struct PlainEnglishTests {
    struct Rule: Sendable, CustomTestStringConvertible {
        /// Case matters.
        let pattern: String
        let reason: String
        /// Files that may use it, by the end of their paths.
        var allowed: [String] = []

        var testDescription: String { pattern }
    }

    /// Terms of the product: one word for one thing, everywhere.
    private static let terms = [
        Rule(
            pattern: #"replayhost group\b|[aA]rchiveGroup|GroupRoutes|\bgroups/|/api/groups"#,
            reason: "it's a collection",
            allowed: [
                "CatalogMigrations.swift", "CatalogMigrationsTests.swift", "CollectionRoutes.swift",
                "CollectionAPITests.swift", "StoreLayout.swift", "CollectionCommand.swift", "docs/json.md",
                "docs/install.md",
                "docs/store.md",
            ]),
        Rule(
            pattern: #"--reference\b|--include-references|\breferenced (file|archive)"#, reason: "a file is linked",
            allowed: [
                "CatalogMigrations.swift", "docs/json.md", "docs/install.md", "OpenCommandTests.swift",
                "BackupCommandTests.swift",
            ]),
        Rule(
            pattern:
                #"\b(is|are) (offline|away)\b|\b[iI]sAway\b|\b(?i:away)(Words|Findings|Codes|Mark)\b|archive-offline"#,
            reason: "a linked file that can't be found is unavailable", allowed: ["docs/json.md", "docs/install.md"]),
        Rule(
            pattern: #"\b[vV]isit(s|ed)? (the|an|a) (archive|page|address|URL)"#,
            reason: "an archive is opened, a capture replayed"),
        Rule(pattern: #"\b[pP]ackage of packages\b|PackageOfPackages"#, reason: "the profile's name is multi-WACZ"),
        Rule(
            pattern: #"\b[tT]aken in\b|[tT]akenIn\b|taken-in"#, reason: "to take in is to deceive: adopted",
            allowed: ["docs/json.md", "docs/install.md"]),
        Rule(
            pattern: #"bad[- ]words|badWords"#, reason: "that is profanity: invalid metadata",
            allowed: ["docs/json.md", "docs/install.md"]),
    ]

    /// Phrases that had to be read twice.
    private static let phrases = [
        Rule(pattern: #"\banew\b"#, reason: "again, or new"),
        Rule(
            pattern: #"\b([sS]omebody|[wW]hoever|Nobody)\b|(?<!["'/\w])nobody(?!["'./\])])\b"#,
            reason: "say who: you, a process, another program",
            allowed: ["test_other_users.py", "OrdinaryUser.swift", "test_install.py"]),
        Rule(pattern: #"\b(for good|all the same|such a one|at hand|in our words)\b"#, reason: "bookish"),
        Rule(pattern: #"\bin words\b"#, reason: "with a message"),
        Rule(pattern: #"there to be asked|says? of itself|is a stranger|[Tt]he house\b"#, reason: "a riddle"),
        Rule(pattern: #"is there whole|as it should be|is made use of|holds the store against"#, reason: "inverted"),
        Rule(pattern: #"\b(can not|cannot)\b"#, reason: "can't"),
    ]

    static let rules = terms + phrases

    private static let texts: [TidyTests.SourceFile] = {
        let folders: [(String, Set<String>)] = [
            ("Sources", ["swift", "c", "cpp", "h"]), ("ShareKit/Sources", ["swift"]), ("Tests", ["swift", "py", "js"]),
            ("www", ["js", "html", "css", "json"]),
            ("docs", ["md"]), ("Scripts", ["", "py", "sh"]),
            ("Packaging", ["", "sh", "roff", "desktop", "service", "socket"]),
            ("Examples", ["swift"]), ("Fuzz/Readers", ["swift"]), ("Fixtures/writers", ["py"]),
        ]
        let pages = ["README.md", "EMBEDDING.md", "CONTRIBUTING.md", "SECURITY.md", "Package.swift", "Makefile"].map {
            name in
            let data =
                FileManager.default.contents(atPath: TidyTests.checkout.appendingPathComponent(name).path) ?? Data()
            return TidyTests.SourceFile(path: name, text: String(decoding: data, as: UTF8.self))
        }
        return pages
            + folders.flatMap { TidyTests.files(in: $0, endings: $1) }
            .filter { !$0.path.hasSuffix("PlainEnglishTests.swift") }
    }()

    @Test(arguments: rules)
    func isNotUsed(_ rule: Rule) throws {
        let expression = try NSRegularExpression(pattern: rule.pattern)
        for file in Self.texts where !rule.allowed.contains(where: file.path.hasSuffix) {
            for match in expression.matches(in: file.text, range: NSRange(file.text.startIndex..., in: file.text)) {
                guard let range = Range(match.range, in: file.text) else { continue }
                let line = file.text[..<range.lowerBound].count { $0 == "\n" } + 1
                Issue.record("\(file.path):\(line): \"\(file.text[range])\": \(rule.reason)")
            }
        }
    }

    @Test func everyKindOfTextIsRead() {
        for path in ["README.md", "Sources/", "Tests/", "www/", "docs/", "Scripts/", "Packaging/"] {
            #expect(Self.texts.contains { $0.path.hasPrefix(path) && !$0.text.isEmpty }, "\(path)")
        }
    }
}
