import ArgumentParser
import Foundation
import ShareKit
import TerminalText

/// Reads from standard input and from files.
enum Input {
    private static let bytesMax = 1 << 20

    /// Returns all of a file, which can be a pipe.
    ///
    /// - Throws: `ValidationError` for more than 1 MiB.
    static func all(of file: FileHandle) throws -> Data {
        var data = Data()
        // A pipe gives what it has, not all that was asked for.
        while let part = try file.read(upToCount: bytesMax), !part.isEmpty {
            data += part
            guard data.count <= bytesMax else { throw ValidationError("the input has more than 1 MiB") }
        }
        return data
    }

    /// Returns all of standard input; `nil` if it's a terminal.
    static func standard() throws -> Data? { isatty(STDIN_FILENO) == 1 ? nil : try all(of: .standardInput) }
}

/// Writes to standard output and standard error.
///
/// Much text comes from other computers, so lines are written as `TerminalText.line` makes them. For a line with gaps, use `writeRow`, and
/// pass its foreign parts through `TerminalText.safe` first.
enum Output {
    /// Writes one line to standard output.
    static func write(_ line: String) { put(TerminalText.line(line) + "\n", FileHandle.standardOutput) }

    /// Writes several parts with gaps between them as one line to standard output.
    static func writeRow(_ row: String) { put(TerminalText.oneLine(row) + "\n", FileHandle.standardOutput) }

    /// Writes a text of this program to standard output.
    static func writeText(_ text: String) { put(text + "\n", FileHandle.standardOutput) }

    static func writeJSON(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The values are plain structures of strings, numbers and dates, which always encode.
        guard let data = try? encoder.encode(value) else { return }
        put(TerminalText.json(String(decoding: data, as: UTF8.self)) + "\n", FileHandle.standardOutput)
    }

    /// Writes bytes to standard output unchanged.
    static func write(_ data: Data) { FileHandle.standardOutput.write(data) }

    /// Writes one line to standard error.
    static func note(_ line: String) { put(TerminalText.line(line) + "\n", FileHandle.standardError) }

    /// Replaces the current line on standard error.
    static func showProgress(_ line: String) { put("\r\u{1B}[K" + TerminalText.safe(line), FileHandle.standardError) }

    static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Reports an error and what to do about it.
    ///
    /// - Parameter place: What it's about, such as a URL.
    static func report(_ error: ShareError, at place: String? = nil, asJSON: Bool) {
        let text = error.description(in: .english)
        report(
            code: error.code.rawValue, [place, text].compactMap { $0 }.joined(separator: ": "),
            hint: error.recovery(in: .english), asJSON: asJSON)
    }

    static func report(code: String, _ what: String, hint: String?, asJSON: Bool) {
        struct Failure: Encodable {
            struct Details: Encodable {
                let code: String
                let what: String
                let hint: String?
            }
            let error: Details
        }
        if asJSON {
            let failure = Failure(error: .init(code: code, what: what, hint: hint))
            let json = (try? JSONEncoder().encode(failure)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
            put(TerminalText.json(json) + "\n", FileHandle.standardError)
        } else {
            note("error: \(what)")
            if let hint { note("hint: \(hint)") }
        }
    }

    private static func put(_ text: String, _ file: FileHandle) {
        // A closed pipe isn't an error of this program.
        try? file.write(contentsOf: Data(text.utf8))
    }
}
