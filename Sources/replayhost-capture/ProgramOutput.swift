import ArchiveStore
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// Runs a short program for its output.
enum ProgramOutput {
    /// - Throws: `StoreError` `failed` with the program's last line of errors.
    static func of(_ program: String, _ arguments: [String]) async throws -> String {
        let result = try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments), output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20))
        guard result.terminationStatus.isSuccess else {
            let line =
                result.standardError.split(separator: "\n").last.map(String.init) ?? "it failed without a message"
            throw StoreError(.failed, line, place: program)
        }
        return result.standardOutput
    }
}
