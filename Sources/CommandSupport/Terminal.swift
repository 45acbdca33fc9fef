import ArchiveStore
import Foundation
import Synchronization
import WebArchive

/// Writes to standard output and standard error.
///
/// Lines are written without characters that control a terminal or reorder text, since much text comes from archives.
package enum Terminal {
    /// The label at the start of a line on standard error.
    package enum Label: String {
        case error, warning, hint

        fileprivate var style: String {
            switch self {
            case .error: "31;1"
            case .warning: "33"
            case .hint: "1"
            }
        }
    }

    private static let isColorOff = Atomic(false)

    /// Turns colors off, as `NO_COLOR` and a pipe do.
    package static func switchColorOff() { isColorOff.store(true, ordering: .relaxed) }

    /// The absolute path of this program, with symbolic links resolved.
    package static var executablePath: String {
        #if os(Linux)
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") { return path }
        #endif
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
    }

    package static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    package static var columns: Int { columns(of: STDERR_FILENO) ?? 80 }

    /// The width of the terminal; `nil` when standard output is a pipe or a file.
    package static var outputColumns: Int? { columns(of: STDOUT_FILENO) }

    private static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes one line to standard output. A closed pipe ends the program quietly, as it does `cat`.
    package static func write(_ line: String) {
        put(oneLine(line) + "\n", to: STDOUT_FILENO)
    }

    /// Writes a text of this program with its colours to standard output.
    package static func writeColoured(_ text: String) { put(text + "\n", to: STDOUT_FILENO) }

    /// Writes whole lines to standard output unchanged; on a terminal, without control characters.
    package static func writeLines(_ lines: [UInt8]) {
        guard isatty(STDOUT_FILENO) == 1 else { return put(lines, to: STDOUT_FILENO) }
        let text = String(decoding: lines, as: UTF8.self)
        put(
            text.split(separator: "\n", omittingEmptySubsequences: true).map { oneLine(String($0)) + "\n" }.joined(),
            to: STDOUT_FILENO)
    }

    /// Writes bytes to standard output unchanged; on a terminal, without control characters except tabs and newlines.
    ///
    /// - Throws: `StoreError` `notPossible` on a terminal if the bytes aren't text.
    package static func writeBytes(_ bytes: [UInt8]) throws {
        guard isatty(STDOUT_FILENO) == 1 else { return put(bytes, to: STDOUT_FILENO) }
        guard isText(bytes) else {
            throw StoreError(
                .notPossible, "this isn't text, so the terminal can't show it",
                hint: "to save it, add `> FILE` to the command")
        }
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        let shown = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map { safe(String($0)) } }
        put(shown.map { $0.joined(separator: "\t") }.joined(separator: "\n"), to: STDOUT_FILENO)
    }

    /// Whether a terminal can show bytes: few are of those that never appear in text.
    ///
    /// Source: file(1), src/encoding.c, `text_chars`.
    static func isText(_ bytes: [UInt8]) -> Bool {
        let count = bytes.count { $0 < 0x07 || (0x0E...0x1A).contains($0) || (0x1C...0x1F).contains($0) || $0 == 0x7F }
        return !bytes.contains(0) && count <= bytes.count / 32
    }

    /// Writes one line to standard error.
    package static func writeError(_ line: String, label: Label? = nil) {
        let start = label.map { styled("\($0.rawValue):", $0.style) + " " } ?? ""
        put(start + oneLine(line) + "\n", to: STDERR_FILENO)
    }

    /// Returns a text in single quotes, as a shell reads it.
    package static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// Asks a yes-or-no question on standard error, and reads the answer from standard input.
    ///
    /// - Throws: `StoreError` `failed` when there is no input.
    package static func confirm(_ question: String) throws -> Bool {
        guard let answer = answer(to: question) else {
            throw StoreError(
                .failed, "can't ask for confirmation here", hint: "add --yes to remove without asking")
        }
        let isConfirmed = ["y", "yes"].contains(answer.lowercased())
        if !isConfirmed { writeError("Not removed.") }
        return isConfirmed
    }

    /// Asks a question on standard error, and reads the answer from standard input; `nil` without input.
    package static func answer(to question: String) -> String? {
        put(oneLine(question) + " ", to: STDERR_FILENO)
        guard let answer = readLine() else {
            put("\n", to: STDERR_FILENO)
            return nil
        }
        return answer
    }

    /// Replaces the current line on standard error.
    package static func showProgress(_ line: String) {
        put("\r\u{1B}[K" + oneLine(line), to: STDERR_FILENO)
    }

    private static func put(_ text: String, to descriptor: Int32) { put(Array(text.utf8), to: descriptor) }

    private static func put(_ bytes: [UInt8], to descriptor: Int32) {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                return
            }
        }
    }

    /// Writes values to standard output as JSON, one in a line.
    package static func writeJSON(_ values: [some Encodable]) {
        for value in values { write(json(value)) }
    }

    package static func json(_ value: some Encodable) -> String {
        // The values are plain structures of strings and numbers, which always encode.
        guard let json = try? JSONText.encoded(value) else { return "{}" }
        return String(decoding: json, as: UTF8.self)
    }

    /// Writes one line to standard output, with some parts in bold on a terminal.
    package static func write(parts: [(text: String, isBold: Bool)]) {
        let isPlain =
            isatty(STDOUT_FILENO) != 1 || isColorOff.load(ordering: .relaxed)
            || !(ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        let line = parts.map { part in
            part.isBold && !isPlain ? "\u{1B}[1m\(oneLine(part.text))\u{1B}[0m" : oneLine(part.text)
        }
        put(line.joined() + "\n", to: STDOUT_FILENO)
    }

    private static func styled(_ text: String, _ code: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        let isOff = isColorOff.load(ordering: .relaxed) || !(environment["NO_COLOR"] ?? "").isEmpty || !isErrorTerminal
        return isOff ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    /// Returns text on one line, with spaces for characters that control a terminal or reorder text.
    package static func oneLine(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    /// Returns a text from a file or a website as a part of a line: with one space in a row and four marks on a letter, it can't
    /// fill the line up to a place where a terminal begins another, or draw over other lines.
    package static func safe(_ text: String) -> String {
        var part = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case _ where isControl(scalar) || blanks.contains(scalar), .spaceSeparator:
                if part.last != " " { part.append(" ") }
                marks = 0
                continue
            case .nonspacingMark, .enclosingMark, .spacingMark: marks += 1
            default: marks = 0
            }
            if marks <= 4 { part.append(scalar) }
        }
        return String(part)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Letters and symbols that nothing is drawn for: Hangul fillers and the empty Braille pattern.
    private static let blanks: Set<Unicode.Scalar> = ["\u{115F}", "\u{1160}", "\u{2800}", "\u{3164}", "\u{FFA0}"]

    /// Formats a size, such as "1.5 MB", in powers of 1000.
    package static func size(_ bytes: UInt64) -> String { ByteSize.text(bytes) }

    /// Returns the percentage done, 0 to 100, even for inconsistent numbers of a damaged catalog.
    package static func percent(_ done: UInt64, of total: UInt64) -> Int {
        total > 0 ? Int(min(Double(done) / Double(total), 1) * 100) : 0
    }

    /// Formats a number with its noun, such as "1 file" or "2 files".
    package static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}

/// Calls the system's `write`, which the method of that name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
