import ArchiveStore
import Foundation
import Synchronization
import TerminalText
import WebArchive

/// Writes to standard output and standard error.
///
/// Much text comes from archives. Lines are therefore written without characters that control a terminal, reorder text or draw on other
/// lines, and with one space in a row. For a line with gaps, use `writeRow`, and pass its foreign parts through `safe` first.
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

    /// Writes one line to standard output, as `line` returns it. A closed pipe ends the program quietly, as it does `cat`.
    package static func write(_ text: String) { put(TerminalText.line(text) + "\n", to: STDOUT_FILENO) }

    /// Writes several parts with gaps between them as one line to standard output.
    ///
    /// - Parameter row: The parts. Those from elsewhere were made by `safe`.
    package static func writeRow(_ row: String) { put(TerminalText.oneLine(row) + "\n", to: STDOUT_FILENO) }

    /// Writes a text of this program with its colours to standard output.
    package static func writeColoured(_ text: String) { put(text + "\n", to: STDOUT_FILENO) }

    /// Writes whole lines to standard output unchanged; on a terminal, as `write` does, or as `writeRow` if they are rows.
    package static func writeLines(_ lines: [UInt8], areRows: Bool = false) {
        guard isatty(STDOUT_FILENO) == 1 else { return put(lines, to: STDOUT_FILENO) }
        let text = String(decoding: lines, as: UTF8.self)
        put(
            text.split(separator: "\n", omittingEmptySubsequences: true).map {
                (areRows ? TerminalText.oneLine(String($0)) : TerminalText.line(String($0))) + "\n"
            }.joined(), to: STDOUT_FILENO)
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
    package static func writeError(_ text: String, label: Label? = nil) {
        let start = label.map { styled("\($0.rawValue):", $0.style) + " " } ?? ""
        put(start + TerminalText.line(text) + "\n", to: STDERR_FILENO)
    }

    /// Quotes a text for a shell. A text that `safe` would change is escaped for Bash and zsh.
    package static func quoted(_ text: String) -> String {
        guard safe(text) != text else {
            return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        }
        let bytes = text.utf8.map { byte in
            (0x21..<0x7F).contains(byte) && byte != 0x27 && byte != 0x5C
                ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "$'\(bytes.joined())'"
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
        put(TerminalText.line(question) + " ", to: STDERR_FILENO)
        guard let answer = readLine() else {
            put("\n", to: STDERR_FILENO)
            return nil
        }
        return answer
    }

    /// Replaces the current line on standard error.
    package static func showProgress(_ line: String) {
        put("\r\u{1B}[K" + TerminalText.oneLine(line), to: STDERR_FILENO)
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

    /// Writes a value as JSON in one line to standard output, or to standard error.
    package static func writeJSON(_ value: some Encodable, toError: Bool = false) {
        put(json(value) + "\n", to: toError ? STDERR_FILENO : STDOUT_FILENO)
    }

    /// Writes values to standard output as JSON, one in a line.
    package static func writeJSON(each values: [some Encodable]) {
        for value in values { writeJSON(value) }
    }

    /// Returns a value as JSON on one line, as `TerminalText.json` does.
    package static func json(_ value: some Encodable) -> String {
        // The values are plain structures of strings and numbers, which always encode.
        guard let json = try? JSONText.encoded(value) else { return "{}" }
        return TerminalText.json(String(decoding: json, as: UTF8.self))
    }

    /// Writes one line to standard output, with some parts in bold on a terminal.
    package static func write(parts: [(text: String, isBold: Bool)]) {
        let isPlain =
            isatty(STDOUT_FILENO) != 1 || isColorOff.load(ordering: .relaxed)
            || !(ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
        let line = parts.map { part in
            part.isBold && !isPlain
                ? "\u{1B}[1m\(TerminalText.oneLine(part.text))\u{1B}[0m" : TerminalText.oneLine(part.text)
        }
        put(line.joined() + "\n", to: STDOUT_FILENO)
    }

    private static func styled(_ text: String, _ code: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        let isOff = isColorOff.load(ordering: .relaxed) || !(environment["NO_COLOR"] ?? "").isEmpty || !isErrorTerminal
        return isOff ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    /// Returns a text from elsewhere as a part of a line, as `TerminalText.safe` does.
    package static func safe(_ text: String) -> String { TerminalText.safe(text) }

    /// Returns a text as `safe` does, in quotation marks that it can't end.
    package static func quotation(_ text: String, open: String = "\"", close: String = "\"") -> String {
        open + safe(text).replacing(/["“”„‟]/, with: "'") + close
    }

    /// Returns a URL as `safe` does, with %20 for spaces: in a sentence, it's one word.
    package static func url(_ url: String) -> String { safe(url).replacing(" ", with: "%20") }

    /// Breaks a text between words to fit the terminal, and indents all lines but the first. A longer word isn't broken, since it may be
    /// copied.
    ///
    /// - Parameters:
    ///   - start: The start of the first line.
    ///   - room: The width of the terminal; `nil` for no limit.
    package static func wrapped(
        _ text: String, after start: String, indentation: Int, within room: Int? = outputColumns
    ) -> [String] {
        var lines = [start]
        var isEmpty = true
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if isEmpty {
                lines[lines.count - 1] += word
            } else if let room, width(last) + 1 + width(String(word)) > room {
                lines.append(String(repeating: " ", count: indentation) + word)
            } else {
                lines[lines.count - 1] += " " + word
            }
            isEmpty = false
        }
        return lines
    }

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
