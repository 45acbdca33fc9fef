import Foundation
import TestSupport
import Testing

/// The listings of EMBEDDING.md and of the DocC articles. Each has a line right before it that says how it was tried:
///
/// - `parsed only`: not run; its syntax is checked here.
/// - `ran on Linux: PATH` and `ran in WebKitGTK: PATH`: its lines stand, as they are, in that file, which the tests run.
struct ListingsTests {
    struct Listing: Sendable, CustomTestStringConvertible {
        let file: String
        /// Of the fence that opens it.
        let line: Int
        let language: String
        let label: String
        let text: String

        var testDescription: String { "\(file):\(line)" }

        /// The file that holds its lines; `nil` when it was parsed only.
        var origin: String? {
            for way in ["ran on Linux: `", "ran in WebKitGTK: `"] where label.hasPrefix(way) && label.hasSuffix("`") {
                return String(label.dropFirst(way.count).dropLast())
            }
            return nil
        }
    }

    static let listings: [Listing] = {
        let articles = ["Sources", "ShareKit/Sources"].flatMap { TidyTests.files(in: $0, endings: ["md"]) }
        let path = TidyTests.checkout.appendingPathComponent("EMBEDDING.md").path
        let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let embedding = TidyTests.SourceFile(path: "EMBEDDING.md", text: text)
        return ([embedding] + articles).flatMap { listings(of: $0) }
    }()

    static func listings(of file: TidyTests.SourceFile) -> [Listing] {
        var found: [Listing] = []
        var open: (line: Int, language: String, label: String, lines: [String])?
        var before = ""
        for line in file.lines {
            if let current = open {
                if line.text == "```" {
                    found.append(
                        Listing(
                            file: file.path, line: current.line, language: current.language, label: current.label,
                            text: current.lines.joined(separator: "\n")))
                    open = nil
                } else {
                    open?.lines.append(line.text)
                }
            } else if line.text.hasPrefix("```") {
                open = (line.number, String(line.text.dropFirst(3)), before, [])
            } else if !line.text.isEmpty {
                before = line.text.trimmingCharacters(in: CharacterSet(charactersIn: "*_ "))
            }
        }
        return found
    }

    @Test func listingsAreThere() {
        let files = Set(Self.listings.map(\.file))
        #expect(files.contains("EMBEDDING.md"))
        #expect(files.count >= 3, "\(files)")
        #expect(Set(Self.listings.map(\.language)).isSubset(of: ["swift", "xml", "sh", "python"]))
    }

    @Test(arguments: listings)
    func eachSaysHowItWasTried(_ listing: Listing) throws {
        guard listing.label != "parsed only" else { return }
        let origin = try #require(listing.origin, "\(listing.label)")
        #expect(["Examples/", "Tests/"].contains { origin.hasPrefix($0) })
        let text = try String(contentsOfFile: Checkout.path(origin), encoding: .utf8)
        #expect(Self.contains(text, listing.text), "its lines do not stand in \(origin)")
    }

    /// Whether the lines stand one after another in a text, however far they are moved to the right.
    private static func contains(_ text: String, _ listing: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let wanted = listing.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = wanted.first, lines.count >= wanted.count else { return false }
        return (0...(lines.count - wanted.count)).contains { start in
            guard lines[start].hasSuffix(first) else { return false }
            let margin = lines[start].dropLast(first.count)
            guard margin.allSatisfy({ $0 == " " }) else { return false }
            return zip(lines[start...], wanted).allSatisfy { $0 == ($1.isEmpty ? "" : margin + $1) }
        }
    }

    @Test(arguments: listings.filter { $0.language == "swift" })
    func swiftIsSwift(_ listing: Listing) async throws {
        let result = try await check(listing.text, "listing.swift", ["swiftc", "-parse", "-swift-version", "6"])
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test(arguments: listings.filter { $0.language == "sh" })
    func shellIsShell(_ listing: Listing) async throws {
        let result = try await check(listing.text, "listing.sh", ["bash", "-n"])
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test(arguments: listings.filter { $0.language == "python" })
    func pythonIsPython(_ listing: Listing) async throws {
        let result = try await check(listing.text, "listing.py", ["python3", "-m", "ast"])
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test(arguments: listings.filter { $0.language == "xml" })
    func propertyListsAreSome(_ listing: Listing) throws {
        let value = try PropertyListSerialization.propertyList(from: Data(listing.text.utf8), format: nil)
        #expect(((value as? [String: Any])?.isEmpty ?? true) == false)
    }

    /// What does not parse must be found, or the tests above mean nothing.
    @Test func whatDoesNotParseIsFound() async throws {
        #expect(try await check("let = 1", "listing.swift", ["swiftc", "-parse", "-swift-version", "6"]).code != 0)
        #expect(try await check("if true; then", "listing.sh", ["bash", "-n"]).code != 0)
        #expect(try await check("if true", "listing.py", ["python3", "-m", "ast"]).code != 0)
        let planted = TidyTests.SourceFile(
            path: "a.md", text: "*ran on Linux: `Tests/no.swift`*\n\n```swift\nlet a = 1\n```\n")
        #expect(Self.listings(of: planted).first?.origin == "Tests/no.swift")
        #expect(Self.contains("a {\n    let b = 1\n\n    c()\n}", "let b = 1\n\nc()"))
        #expect(!Self.contains("a {\n    let b = 1\n    d()\n    c()\n}", "let b = 1\nc()"))
    }

    private func check(_ text: String, _ name: String, _ command: [String]) async throws -> ProgramResult {
        let folder = try TemporaryFolder()
        let path = try folder.write(text, to: name)
        // The toolchain is on the PATH of the user.
        let search = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try await TestSupport.run(
            "/usr/bin/env", command + [path], environment: ["PATH": search], folder: folder.path)
    }
}
