import Foundation
import Synchronization
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the program writes and where it runs.
///
/// Text goes out without the characters that steer a terminal or reorder text: much of it comes from archives.
enum Terminal {
    /// What a line on standard error begins with.
    enum Label: String {
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

    /// `--no-color`; `NO_COLOR` and a pipe switch it off as well.
    static func switchColorOff() { isColorOff.store(true, ordering: .relaxed) }

    /// Absolute path of this program, with links followed.
    static var executablePath: String {
        #if os(Linux)
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") { return path }
        #endif
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
    }

    static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static var columns: Int { columns(of: STDERR_FILENO) ?? 80 }

    /// How wide the terminal is that standard output is; `nil` for a pipe and a file.
    static var outputColumns: Int? { columns(of: STDOUT_FILENO) }

    private static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// One line on standard output. A reader that went away ends the program quietly, as it does `cat`.
    static func write(_ line: String) {
        put(safe(line) + "\n", to: STDOUT_FILENO)
    }

    /// Whole lines on standard output, as they are; on a terminal without control characters.
    static func writeLines(_ lines: [UInt8]) {
        guard isatty(STDOUT_FILENO) == 1 else { return put(lines, to: STDOUT_FILENO) }
        let text = String(decoding: lines, as: UTF8.self)
        put(
            text.split(separator: "\n", omittingEmptySubsequences: true).map { safe(String($0)) + "\n" }.joined(),
            to: STDOUT_FILENO)
    }

    /// Bytes of an archive on standard output, as they are; on a terminal without control characters but tabs and line ends.
    static func writeBytes(_ bytes: [UInt8]) {
        guard isatty(STDOUT_FILENO) == 1 else { return put(bytes, to: STDOUT_FILENO) }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let shown = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map { safe(String($0)) } }
        put(shown.map { $0.joined(separator: "\t") }.joined(separator: "\n"), to: STDOUT_FILENO)
    }

    /// One line on standard error.
    static func writeError(_ line: String, label: Label? = nil) {
        let start = label.map { styled("\($0.rawValue):", $0.style) + " " } ?? ""
        put(start + safe(line) + "\n", to: STDERR_FILENO)
    }

    /// The beginning of a line on standard error that somebody is to go on with.
    static func ask(_ question: String) {
        put(safe(question) + " ", to: STDERR_FILENO)
    }

    /// The line on standard error that the next one takes the place of.
    static func showProgress(_ line: String) {
        put("\r\u{1B}[K" + safe(line), to: STDERR_FILENO)
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

    static func json(_ value: some Encodable) -> String {
        // The values are our own plain structures of strings and numbers: they always have a JSON form.
        guard let json = try? JSONText.encoded(value) else { return "{}" }
        return String(decoding: json, as: UTF8.self)
    }

    private static func styled(_ text: String, _ code: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        let isOff = isColorOff.load(ordering: .relaxed) || !(environment["NO_COLOR"] ?? "").isEmpty || !isErrorTerminal
        return isOff ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    /// Text from an archive on one line, with spaces for what could steer a terminal or reorder text.
    static func safe(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return text }
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar)
            }
        }
        return String(line)
    }

    /// For people: 1.5 MB. Powers of 1000, as file managers and disks have them.
    static func size(_ bytes: UInt64) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var value = Double(bytes)
        var unit = 0
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 { return "\(bytes) B" }
        return "\(String(format: value < 9.95 ? "%.1f" : "%.0f", value)) \(units[unit])"
    }

    /// How much of a total is done, 0 to 100, whatever the catalog says.
    static func percent(_ done: UInt64, of total: UInt64) -> Int {
        total > 0 ? Int(min(Double(done) / Double(total), 1) * 100) : 0
    }

    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}

/// The system's `write`, under a name that no method hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
