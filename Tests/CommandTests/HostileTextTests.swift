import Foundation
import TerminalText
import TestSupport
import Testing

@testable import CommandSupport
@testable import replayhost

/// Text from archives can't control the terminal or reorder other text.
struct HostileTextTests {
    /// CSI as one character and as two, BEL, foreign line ends, and a right-to-left override.
    private static let hostile = "\u{9B}31m\u{202E}fdp.exe\u{2066}\u{2028}\u{200F}\u{61C}"
    private static let hostileJSON = hostile + #"\u001b[2J\u0007\nid: \u007f"#

    /// Control characters except newlines. Extra newlines would show in the number of lines.
    private static func controls(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter {
            $0 != "\n"
                && ($0.properties.generalCategory == .control || $0.properties.isBidiControl
                    || [.lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory))
        }
    }

    private func importedStore() async throws -> (CommandStore, [ProgramResult]) {
        let store = try CommandStore()
        let url = "http://example.org/\u{202E}\u{9B}"
        let archive = GeneratedArchive(
            title: Self.hostileJSON,
            pages: [.init(url: url, title: Self.hostileJSON), .init(url: "http://example.org/")])
        let name = "crawl\u{1B}[2J\u{9B}\u{202E}.wacz"
        try store.write(archive, to: name)
        try store.folder.write("no archive", to: "other\u{9B}\u{202E}\n.wacz")
        let imports = [
            try await store.run("import", name, "--id", "crawl"),
            try await store.run("import", "other\u{9B}\u{202E}\n.wacz"),
            try await store.run("import", name, "--json"),
            try await store.run("import", "other\u{9B}\u{202E}\n.wacz", "--json"),
        ]
        return (store, imports)
    }

    @Test func archivedTextDoesNotControlTheTerminal() async throws {
        let (store, imports) = try await importedStore()
        let collection = try await store.run("collection", "create", "Both\u{9B}\u{202E}", "crawl", "--json")
        #expect(collection.code == 0, Comment(rawValue: collection.errors))
        let id = try #require(try objects(collection.outputLines).first?["id"] as? String)
        let commands = [
            ["list"], ["info", "crawl"], ["pages", "crawl"], ["cdx", "http://example.org/*"],
            ["cdx", "http://example.org/*", "--output", "text"], ["cdx", "http://example.org/*", "--output", "link"],
            ["cdx", "http://example.org/*", "--output", "text", "--fields", "url,urlkey"], ["urls", "crawl"],
            ["jobs", "run"], ["search", "exe"],
            ["explain", "http://example.org/\u{202E}"], ["jobs", "--all"],
            ["collection", "list"],
            ["collection", "info", id], ["get", "http://example.org/\u{202E}\u{9B}"],
            ["get", "http://example.org/", "--head"],
            ["edit", "crawl", "--add-tag", "\u{9B}\u{202E}"], ["doctor"],
        ]
        var results = imports + [collection]
        for command in commands {
            for options in [[], ["--json"]] where !(command.contains("--head") && !options.isEmpty) {
                results.append(try await store.run(command + options))
            }
        }
        for result in results {
            let comment = Comment(rawValue: result.output.debugDescription + result.errors.debugDescription)
            #expect(Self.controls(result.output + result.errors).isEmpty, comment)
        }
        let title = try #require(
            try objects(results.flatMap(\.outputLines).filter { $0.hasPrefix("{") })
                .compactMap { ($0["title"] as? String) }.first { $0.contains("exe") })
        #expect(title.unicodeScalars.contains("\u{202E}"), "JSON keeps the value")
    }

    @Test func longTextsOfAnArchiveAreCut() async throws {
        let store = try CommandStore()
        let url = "http://example.org/" + String(repeating: "a", count: 16_000)
        try store.write(GeneratedArchive(pages: [.init(url: url)]), to: "long.wacz")
        #expect(try await store.run("import", "long.wacz").code == 0)
        let lines = try await store.run("info", "long").outputLines
        #expect(lines.contains { $0.hasPrefix("main page:") && $0.hasSuffix("…") })
        #expect(lines.allSatisfy { $0.count <= 2100 })
        #expect(try await store.run("info", "long", "--json").output.contains(url))
    }

    @Test(arguments: [
        ("plain", "plain"), ("\u{1B}[2J", " [2J"), ("a\u{9B}b\u{202E}c", "a b c"), ("é字", "é字"), ("a\r\nb", "a b"),
        ("\u{2028}\u{2029}\u{7F}", " "), ("a      b", "a b"),
        ("a\u{2003}\u{A0}\u{3000}b\u{2800}\u{3164}\u{1160}\u{115F}\u{FFA0}c", "a b c"),
        ("a\u{301}\u{302}\u{303}\u{304}\u{305}\u{20DD}\u{903}b\u{301}", "a\u{301}\u{302}\u{303}\u{304}b\u{301}"),
        ("a\u{E0041}\u{E0042}\u{AD}\u{200B}\u{200D}b", "a b"),
        ("a \u{FE0F} \u{34F} \u{180B} \u{E0100}b❤\u{FE0F}", "a b❤\u{FE0F}"),
        ("a\u{2065}\u{FFF0}\u{E0080}\u{1D159}\u{13441}b", "a b"),
        ("가\u{1161}\u{1161}\u{11AB}\u{D7CB}\u{1162}b", "가\u{1161}\u{1161}\u{11AB}\u{D7CB}b"),
    ])
    func safeTextIsOneLine(_ text: String, _ expected: String) {
        #expect(TerminalText.safe(text) == expected)
        #expect(TerminalText.line("    \(text)") == "    \(expected)")
    }

    /// RFC 8259 §7: a character beyond U+FFFF is two escapes.
    @Test(arguments: ["می\u{200C}خواهم 👨\u{200D}👩 \u{AD}\u{202E}\u{E0041}\u{7F}", "plain \\ \" text"])
    func jsonKeepsTheValueAndIsOneLine(_ text: String) throws {
        let json = Terminal.json(text)
        #expect(
            try JSONDecoder().decode(String.self, from: Data(json.utf8)).unicodeScalars.elementsEqual(
                text.unicodeScalars))
        #expect(TerminalText.oneLine(json) == json)
    }

    @Test func indentationFillsNoRow() {
        #expect(
            TerminalText.line(String(repeating: " ", count: 80) + "a  b") == String(repeating: " ", count: 16) + "a b")
    }

    @Test func partsEndNeitherQuotationsNorSentences() {
        #expect(Terminal.quotation(#"a" (9 pages). "“"#) == #""a' (9 pages). ''""#)
        #expect(
            Terminal.url("https://a.example/  is there. See https://b.example/")
                == "https://a.example/%20is%20there.%20See%20https://b.example/")
    }

    @Test(arguments: [
        ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("a  b", #"$'a\x20\x20b'"#),
        ("\u{2003}'\\", #"$'\xe2\x80\x83\x27\x5c'"#),
    ])
    func quotedTextIsReadAsItIs(_ text: String, _ quoted: String) async throws {
        #expect(Terminal.quoted(text) == quoted)
        #expect(try await run("/bin/bash", ["-c", "printf %s \(quoted)"]).output == text)
    }

    /// Spaces that fill the rest of a row, in a title, a URL, a file name and an argument.
    @Test func spacesOfAnArchiveMakeNoGaps() async throws {
        let store = try CommandStore()
        let gap = String(repeating: " ", count: 60)
        let url = "http://example.org/\(gap)Verified"
        let pages = [GeneratedArchive.Page(url: url, title: "Tide\(gap)Verified")]
        try store.write(GeneratedArchive(title: "Tide\(gap)Verified", pages: pages), to: "gaps.wacz")
        try store.folder.write("no archive", to: "other\(gap)Verified.wacz")
        for command in [
            ["import", "gaps.wacz"], ["import", "other\(gap)Verified.wacz"], ["list"], ["info", "gaps"],
            ["pages", "gaps"], ["jobs", "run"],
            ["urls", "gaps"], ["search", "tide"], ["explain", url], ["explain", url, "--in", "gaps"], ["get", url],
            ["get", "\(url)2", "gaps"], ["open", "Tide\(gap)Verified2"], ["cdx", "\(url)2"],
            ["collection", "create", "All\(gap)Verified", "gaps"], ["collection", "list"],
            ["export", "gaps", "--page", url, "--output", "page\(gap)Verified.wacz"], ["remove", "gaps", "--yes"],
        ] {
            let result = try await store.run(command)
            let shown = Comment(rawValue: "\(command): \(result.output + result.errors)")
            #expect(!(result.output + result.errors).contains("   Verified"), shown)
            #expect(
                (result.output + result.errors).contains(/( |%20)Verified/) || ["cdx", "jobs"].contains(command[0]),
                shown)
        }
    }
}
