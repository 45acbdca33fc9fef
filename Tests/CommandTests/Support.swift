import Foundation
import TestSupport
import Testing

/// A store of its own and the program to run on it.
struct CommandStore: Sendable {
    let folder: TemporaryFolder
    var store: String { folder.path("store") }

    init() throws { folder = try TemporaryFolder() }

    /// Runs a command on this store.
    func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await run(arguments, input: Array(input.utf8), environment: environment)
    }

    func run(
        _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await TestSupport.run(
            Checkout.binary, arguments, input: input,
            environment: ["REPLAYHOST_STORE": store, "REPLAYHOST_ASSETS": try assets()].merging(environment) { $1 },
            folder: folder.path)
    }

    /// Starts a command and hands it over while it runs; kills it should the test end before.
    func start<Value: Sendable>(
        _ arguments: String..., environment: [String: String] = [:],
        _ body: @escaping @Sendable (ProgramRun) throws -> Value
    ) async throws -> Value {
        try await onThread {
            let program = try launch(arguments, environment: environment)
            defer { program.send(SIGKILL) }
            return try body(program)
        }
    }

    /// Starts a command; for code on a thread of its own.
    func launch(_ arguments: [String], environment: [String: String] = [:]) throws -> ProgramRun {
        try ProgramRun(
            Checkout.binary, arguments,
            environment: ["REPLAYHOST_STORE": store, "REPLAYHOST_ASSETS": try assets()].merging(environment) { $1 },
            folder: folder.path)
    }

    /// The smallest `www` that `serve` takes.
    private func assets() throws -> String {
        if !FileManager.default.fileExists(atPath: folder.path("www/index.html")) {
            try folder.write("<!doctype html>", to: "www/index.html")
        }
        return folder.path("www")
    }

    @discardableResult
    func write(_ archive: GeneratedArchive, to name: String) throws -> String {
        try folder.write(archive.bytes(), to: name)
    }
}

/// The file that a text is compared to.
func golden(_ name: String) -> String { Checkout.path("Tests/CommandTests/Golden/\(name).txt") }

/// Objects, one a line; the test fails when a line is none.
func objects(_ lines: [String]) throws -> [[String: Any]] {
    try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)") }
}

/// The `code` of an error object on standard error.
func errorCodes(_ result: ProgramResult) throws -> [String] {
    try objects(result.errorLines).map { try #require(($0["error"] as? [String: Any])?["code"] as? String) }
}
