import Foundation
import TestSupport
import Testing

/// `Examples/ReadArchive`, which uses only public API.
struct ReadArchiveTests {
    private func run(_ arguments: String...) async throws -> ProgramResult {
        // Built with the tests, in the same folder.
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return try await TestSupport.run(folder.appendingPathComponent("ReadArchive").path, arguments)
    }

    private let sample = Checkout.fixture("sample.wacz")

    @Test func listsPages() async throws {
        let result = try await run(sample)
        #expect(result.code == 0)
        #expect(result.outputLines.first == "Tidepool Field Guide")
        // Fixtures/site/sample.json marks ten pages, the two of the main page among them.
        #expect(result.outputLines.dropFirst().count { $0.contains("https://fieldguide.example/") } == 10)
    }

    /// Of two captures the later; it is gzipped in the archive.
    @Test func decodesBody() async throws {
        let result = try await run(sample, "https://fieldguide.example/")
        let page = try String(contentsOfFile: Checkout.path("Fixtures/site/guide/index-autumn.html"), encoding: .utf8)
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("20241121090000 200 text/html"))
        #expect(result.output.hasSuffix(", \(page.utf8.count) bytes\n" + page))
    }

    @Test func missingCaptureIsNotAnError() async throws {
        let result = try await run(sample, "https://fieldguide.example/none")
        #expect(result.code == 0)
        #expect(result.output == "https://fieldguide.example/none wasn't captured\n")
    }

    @Test func invalidFileThrowsErrorWithMessage() async throws {
        let result = try await run(Checkout.fixture("damaged/not-a-zip.wacz"))
        #expect(result.code == 1)
        #expect(result.output.hasPrefix("error: not-a-zip.wacz: "))
    }
}
