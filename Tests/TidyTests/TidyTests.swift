import Foundation
import Testing

/// The rules of CONTRIBUTING.md that a program can check.
struct TidyTests {
    /// One file, as lines.
    struct SourceFile: Sendable {
        /// From the checkout's folder.
        let path: String
        let text: String

        /// Our target that has it; `nil` outside of `Sources`.
        var target: String? {
            let parts = path.split(separator: "/")
            return parts.firstIndex(of: "Sources").map { String(parts[$0 + 1]) }
        }

        var lines: [(number: Int, text: String)] {
            text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0 + 1, String($1)) }
        }

        /// Lines without comments and without what stands in quotes.
        var code: [(number: Int, text: String)] {
            lines.filter { !$0.text.drop(while: { $0 == " " }).hasPrefix("//") }.map { ($0.number, Self.bare($0.text)) }
        }

        private static func bare(_ line: String) -> String {
            var bare = ""
            var isQuoted = false
            var previous: Character = " "
            for character in line {
                if character == "\"", previous != "\\" { isQuoted.toggle() }
                if !isQuoted { bare.append(character) }
                previous = character
            }
            return bare.components(separatedBy: " // ")[0]
        }
    }

    static let checkout: URL = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func files(in folder: String, endings: Set<String>) -> [SourceFile] {
        let start = checkout.appendingPathComponent(folder)
        guard let walk = FileManager.default.enumerator(atPath: start.path) else { return [] }
        return walk.compactMap { $0 as? String }.sorted()
            .filter { endings.contains(($0 as NSString).pathExtension) }
            .filter { !$0.hasPrefix("vendor/") && !$0.hasPrefix("bundle/") }
            .compactMap { name in
                guard let data = FileManager.default.contents(atPath: start.appendingPathComponent(name).path) else {
                    return nil
                }
                return SourceFile(path: "\(folder)/\(name)", text: String(decoding: data, as: UTF8.self))
            }
    }

    static let sources = files(in: "Sources", endings: ["swift"]) + files(in: "ShareKit/Sources", endings: ["swift"])
    static let pages = files(in: "www", endings: ["js", "html", "css", "svg"])

    /// Our targets in the order of the arrows: each may import those before it.
    static let order = [
        "TerminalText", "CLinux", "CLibzip", "CZlib", "CBrotli", "CZstd", "RE2Shim", "WebArchive", "ArchiveSignature",
        "ArchiveStore",
        "ReplayServer", "ReplayHostKit", "CommandSupport", "replayhost", "CaptureAPI", "ShareKit", "replayhost-share",
        "EgressGuard", "CaptureWorker",
        "CQRencode", "CaptureTLS", "CaptureServer", "replayhost-capture",
    ]

    /// The targets of the capture server. No other target imports them.
    static let capture: Set<String> = [
        "CaptureAPI", "ShareKit", "replayhost-share", "EgressGuard", "CaptureWorker", "CQRencode", "CaptureTLS",
        "CaptureServer", "replayhost-capture",
    ]

    /// What each target of the capture server may import besides those of `capture` before it.
    static let belowCapture: [String: Set<String>] = [
        "CaptureAPI": [], "ShareKit": [], "replayhost-share": ["TerminalText"], "EgressGuard": [],
        "CaptureWorker": ["WebArchive", "ArchiveStore", "ReplayHostKit"],
        "CaptureTLS": ["ArchiveStore"],
        "CaptureServer": ["CZlib", "CZstd", "WebArchive", "ArchiveStore", "ReplayServer"],
        "replayhost-capture": ["ArchiveStore", "ReplayServer", "ReplayHostKit", "CommandSupport", "TerminalText"],
    ]

    @Test func sourcesAreThere() {
        #expect(Self.sources.count > 50)
        #expect(Self.pages.count > 10)
        #expect(Set(Self.sources.map(\.target)).isSubset(of: Self.order), "a target is missing in the order of arrows")
    }

    @Test(arguments: TidyTests.order)
    func importsPointOneWay(target: String) throws {
        let place = try #require(Self.order.firstIndex(of: target))
        var allowed = Set(Self.order[..<place])
        if let below = Self.belowCapture[target] { allowed = allowed.intersection(Self.capture).union(below) }
        for file in Self.sources where file.target == target {
            for line in file.code {
                guard let module = Self.importedModule(line.text), Self.order.contains(module) else { continue }
                #expect(allowed.contains(module), "\(file.path):\(line.number): \(target) must not import \(module)")
            }
        }
    }

    @Test func theFormatLibraryNeedsOnlyTheSystemAndHashes() {
        let allowed: Set<String> = [
            "CLibzip", "CZlib", "CBrotli", "CZstd", "RE2Shim", "CLinux", "Crypto", "Foundation", "FoundationEssentials",
            "Glibc",
            "Darwin",
            "Synchronization",
        ]
        for file in Self.sources where file.path.hasPrefix("Sources/WebArchive/") {
            for line in file.code {
                guard let module = Self.importedModule(line.text) else { continue }
                #expect(allowed.contains(module), "\(file.path):\(line.number): \(module)")
            }
        }
    }

    /// Apps depend on it, and get nothing else.
    @Test func shareKitNeedsOnlyTheSystem() {
        let allowed: Set<String> = ["CaptureAPI", "Foundation", "Dispatch", "Security"]
        for file in Self.sources where file.path.hasPrefix("ShareKit/") {
            for line in file.code {
                guard let module = Self.importedModule(line.text) else { continue }
                #expect(allowed.contains(module), "\(file.path):\(line.number): \(module)")
            }
        }
    }

    /// `replayhost` never reaches the network, and its first build takes no longer: its dependencies name no capture target.
    @Test func replayhostDependsOnNothingOfTheCaptureServer() throws {
        let package = try String(contentsOf: Self.checkout.appending(path: "Package.swift"), encoding: .utf8)
        let start = try #require(package.range(of: "let package = Package("))
        let others = package[start.lowerBound...].components(separatedBy: "cxxLanguageStandard")[0]
        for name in Self.capture { #expect(!others.contains("\"\(name)\""), "\(name)") }
        for name in ["swift-subprocess", "swift-nio-ssl"] { #expect(!others.contains(name), "\(name)") }
    }

    @Test(arguments: [
        ("X509", ["ArchiveSignature", "CaptureTLS"]), ("SwiftASN1", ["ArchiveSignature", "CaptureTLS"]),
        ("NIOSSL", ["CaptureTLS"]), ("NIOTLS", []),
    ])
    func fewTargetsNeedTheLibrariesOfCertificatesAndTLS(library: String, targets: [String]) {
        for file in Self.sources where !targets.contains(file.target ?? "") {
            for line in file.code {
                #expect(Self.importedModule(line.text) != library, "\(file.path):\(line.number): \(library)")
            }
        }
    }

    /// It comes after the worker in the order of arrows, but has nothing to do with it.
    @Test func certificatesNeedNoOtherTargetOfTheCaptureServer() {
        for file in Self.sources where file.path.hasPrefix("Sources/CaptureTLS/") {
            for line in file.code {
                let module = Self.importedModule(line.text) ?? ""
                #expect(!Self.capture.contains(module), "\(file.path):\(line.number): \(module)")
            }
        }
    }

    /// The module of an import line; `nil` for every other line.
    static func importedModule(_ line: String) -> String? {
        let words = line.split(separator: " ").filter { !["public", "package", "internal", "private"].contains($0) }
        guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { return nil }
        guard words[..<place].allSatisfy({ $0.hasPrefix("@") }) else { return nil }
        let kinds: Set<Substring> = ["struct", "class", "enum", "func", "protocol", "typealias", "var", "let"]
        let name = words[place + 1]
        let module = kinds.contains(name) && place + 2 < words.count ? words[place + 2] : name
        return module.split(separator: ".").first.map(String.init)
    }

    struct Forbidden: Sendable, CustomTestStringConvertible {
        let pattern: String
        let why: String
        /// Files that may, by the beginning of their path.
        var except: [String] = []

        var testDescription: String { pattern }
    }

    @Test(arguments: [
        Forbidden(
            pattern: #"(?<![\w.])print\("#, why: "output belongs to Commands and Terminal",
            except: [
                "Sources/replayhost/Commands/", "Sources/replayhost/Terminal/",
                "Sources/CommandSupport/CommandRun.swift",
            ]),
        Forbidden(pattern: #"\btry!"#, why: "it crashes"),
        Forbidden(pattern: #"\bas!"#, why: "it crashes"),
        Forbidden(pattern: #"[\w\)\]]!(?!=)"#, why: "a force unwrap crashes"),
        Forbidden(pattern: #"\bfatalError\b"#, why: "it crashes"),
        Forbidden(pattern: #"nonisolated\(unsafe\)"#, why: "it hides a data race"),
        Forbidden(pattern: #"@unchecked\s+Sendable"#, why: "it hides a data race"),
        Forbidden(
            pattern: #"\bTask\s*(\(.*\))?\s*\{"#, why: "nothing awaits it",
            except: ["Sources/ReplayServer/ManagedTask.swift"]),
        Forbidden(pattern: #"\bTask\.detached\b"#, why: "nothing awaits it"),
        Forbidden(pattern: #"\bDispatchSemaphore\b"#, why: "structured concurrency only"),
        Forbidden(pattern: #"@_spi\b"#, why: "our API is public, package or internal"),
        Forbidden(
            pattern: #"@_exported\b"#, why: "programs that embed the kit would get the names of all libraries below"),
        Forbidden(pattern: #"\bopen (class|func|var)\b"#, why: "nothing is made for subclasses"),
    ])
    func sourcesDoNotUse(_ forbidden: Forbidden) throws {
        let pattern = try NSRegularExpression(pattern: forbidden.pattern)
        for file in Self.sources where !forbidden.except.contains(where: file.path.hasPrefix) {
            for line in file.code {
                let range = NSRange(line.text.startIndex..., in: line.text)
                #expect(
                    pattern.firstMatch(in: line.text, range: range) == nil,
                    "\(file.path):\(line.number): \(line.text.trimmingCharacters(in: .whitespaces)) (\(forbidden.why))")
            }
        }
    }

    /// `Descriptor` follows no link and waits for nothing. Only what a person names is opened in another way.
    @Test func filesOfAStoreAreOpenedByOneInitializer() throws {
        let pattern = try NSRegularExpression(
            pattern: #"(FileByteSource|WACZFile\.open|FileHandle)\((path|for)|\bopen\(\w+, .*O_|contents\(atPath:"#
                + #"|\b(Data|String)\(contentsOf|Descriptor\(named:"#)
        let allowed = [
            "ArchiveStore/Storage/Descriptor.swift": 3, "ArchiveStore/Storage/ArchiveFile.swift": 1,
            "ArchiveStore/Verify/Verifications.swift": 1, "ArchiveStore/Search/PDFProgram.swift": 1,
            "CaptureServer/Configuration/ConfigurationFile.swift": 1,
            "CaptureServer/Configuration/ConfigurationPaths.swift": 1,
        ]
        var found: [String: Int] = [:]
        for file in Self.sources {
            let path = String(file.path.dropFirst("Sources/".count))
            guard path.hasPrefix("ArchiveStore/") || path.hasPrefix("CaptureServer/") else { continue }
            for line in file.code {
                let range = NSRange(line.text.startIndex..., in: line.text)
                if pattern.firstMatch(in: line.text, range: range) != nil { found[path, default: 0] += 1 }
            }
        }
        #expect(found == allowed)
    }

    /// The patterns above must find what they are for.
    @Test(arguments: [
        (#"[\w\)\]]!(?!=)"#, "let a = b!.c", true), (#"[\w\)\]]!(?!=)"#, "if a != b", false),
        (#"[\w\)\]]!(?!=)"#, "if !a", false), (#"\bTask\s*(\(.*\))?\s*\{"#, "Task { await x() }", true),
        (#"\bTask\s*(\(.*\))?\s*\{"#, "Task(priority: .low) {", true),
        (#"\bTask\s*(\(.*\))?\s*\{"#, "var watch: RepeatedTask? {", false), (#"(?<![\w.])print\("#, "print(x)", true),
        (#"(?<![\w.])print\("#, "fingerprint(x)", false),
    ])
    func patternsMatchWhatTheyShould(pattern: String, line: String, isMatch: Bool) throws {
        let found = try NSRegularExpression(pattern: pattern).firstMatch(
            in: line, range: NSRange(line.startIndex..., in: line))
        #expect((found != nil) == isMatch)
    }

    @Test func filesStayBelow500Lines() {
        // A page that has to be one file may be longer: its script and style are allowed by their hashes. A file of messages
        // has all texts of a language.
        let pages = Self.pages.filter {
            !$0.path.hasSuffix(".html") && !$0.path.hasSuffix(".svg") && !$0.path.contains("/messages/")
        }
        let files = Self.sources + Self.files(in: "Tests", endings: ["swift", "py"]) + pages
        for file in files {
            #expect(file.lines.count <= 501, "\(file.path) has \(file.lines.count) lines, 500 are the limit")
        }
    }

    @Test func noMachinePathsAreLeft() throws {
        // Spelled so that this file does not find itself.
        let homes = ["/" + "home/", "/" + "Users/", "/" + "work/main", "/" + "work/shared", "/" + "root/"]
        let files =
            Self.sources + Self.pages + Self.files(in: "Tests", endings: ["swift", "py", "txt"])
            + Self.files(in: "Scripts", endings: ["", "py", "sh", "md"]) + Self.files(in: "docs", endings: ["md"])
        for file in files {
            for line in file.lines {
                for home in homes {
                    #expect(!line.text.contains(home), "\(file.path):\(line.number): \(home)")
                }
            }
        }
    }

    /// A script may start a test, and a test a script; neither imports the other's modules. Both use `Fixtures/writers`.
    @Test func scriptsAndTestsDoNotImportEachOther() {
        let scripts = Self.files(in: "Scripts", endings: ["", "py", "sh"])
        let tests = Self.files(in: "Tests", endings: ["py", "ini"])
        #expect(scripts.count > 20 && tests.count > 20)
        for file in scripts + tests {
            // "pythonpath" of pytest.ini names folders of Tests and Fixtures.
            let ways = ["sys.path", "PYTHONPATH"] + (file.path.hasPrefix("Tests/") ? ["Scripts/lib"] : ["pythonpath"])
            for line in file.lines where !line.text.contains(/PYTHONPATH=(\$PWD\/)?Fixtures\b/) {
                #expect(!ways.contains { line.text.contains($0) }, "\(file.path):\(line.number): \(line.text)")
            }
        }
    }

    @Test(arguments: [
        (#"\son[a-z]+\s*=\s*["']"#, ["html", "svg"]), (#"\.(innerHTML|outerHTML)\b"#, ["js", "html"]),
        (#"insertAdjacentHTML|document\.write\b"#, ["js", "html"]),
        (#"\beval\s*\(|new Function\s*\("#, ["js", "html"]),
        (#"javascript:"#, ["js", "html", "svg"]), (#"(src|href)\s*=\s*["']https?://"#, ["html"]),
        (#"@import\b|url\(\s*["']?https?://"#, ["css", "html"]),
    ])
    func webFilesDoNotUse(pattern: String, endings: [String]) throws {
        let expression = try NSRegularExpression(pattern: pattern, options: .caseInsensitive)
        for file in Self.pages where endings.contains((file.path as NSString).pathExtension) {
            for line in file.lines where !line.text.drop(while: { $0 == " " }).hasPrefix("//") {
                let match = expression.firstMatch(in: line.text, range: NSRange(line.text.startIndex..., in: line.text))
                #expect(match == nil, "\(file.path):\(line.number): \(line.text.trimmingCharacters(in: .whitespaces))")
            }
        }
    }
}
