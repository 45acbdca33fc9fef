import Foundation
import TestSupport
import Testing

/// `Examples/TimeLookups`, with which `make bench` measures lookups without HTTP.
struct TimeLookupsTests {
    private func run(captures: String) async throws -> ProgramResult {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let program = folder.appendingPathComponent("TimeLookups").path
        return try await TestSupport.run(program, [Checkout.fixture("sample.wacz")], input: Array(captures.utf8))
    }

    @Test func findsEachCapture() async throws {
        let result = try await run(captures: "20241121090000 https://fieldguide.example/\n")
        let medians = try JSONDecoder().decode([String: Double].self, from: Data(result.output.utf8))
        #expect(Set(medians.keys) == ["first", "again"])
        #expect(medians.values.allSatisfy { $0 > 0 })
    }

    @Test func missingCaptureIsAnError() async throws {
        let result = try await run(captures: "20200101000000 https://fieldguide.example/\n")
        #expect(result.code == 1)
        #expect(result.errors == "error: https://fieldguide.example/ has no capture of 20200101000000\n")
    }
}
