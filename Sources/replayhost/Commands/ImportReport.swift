import ArchiveStore
import Foundation

/// A CSV file with the result of each input of an import, written line by line. RFC 4180.
final class ImportReport {
    private let file: Descriptor

    /// Creates the file, or empties it.
    init(at path: String) throws {
        do {
            file = try Descriptor(named: path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        } catch {
            throw StoreError(.failed, "can't write the report: \(error.what)", place: path)
        }
        try add(fields: ["input", "result", "id", "sha256", "size", "code", "words"])
    }

    /// - Parameters:
    ///   - result: `imported`, `duplicate`, `replaced`, `adopted` or `failed`.
    ///   - code: The error's code.
    ///   - message: The error's message and hint.
    func add(
        _ input: String, result: String, id: String? = nil, sha256: String? = nil, size: UInt64? = nil,
        code: String? = nil, message: String? = nil
    ) throws {
        try add(fields: [input, result, id ?? "", sha256 ?? "", size.map { "\($0)" } ?? "", code ?? "", message ?? ""])
    }

    func synchronize() throws { try file.synchronize() }

    private func add(fields: [String]) throws {
        try Array(CSVText.line(fields).utf8).withUnsafeBytes { try file.append($0) }
    }
}
