import Foundation
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads the text of a PDF with `pdftotext` of Poppler, if it is installed.
///
/// It runs as a separate process with limits, since a PDF can be made to use any amount of time and memory.
struct PDFText {
    let layout: StoreLayout

    /// Returns the text of a document.
    ///
    /// - Throws: The errors of reading the document; `StoreError` if there is no space for a copy of it.
    func read(_ document: DocumentText) throws -> PageContent {
        guard let program = Self.program else { return PageContent(type: "pdf", missing: .noPDFReader) }
        return try layout.withStagingFile { file in
            try document.readBytes { try file.append($0) }
            let content = try run(program, on: file.path)
            guard content.missing == .unreadablePDF, try isEncrypted(file.path) else { return content }
            return PageContent(type: "pdf", missing: .encryptedPDF)
        }
    }

    private func run(_ program: String, on path: String) throws -> PageContent {
        #if os(Linux) || os(macOS)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The limits hold for pdftotext only. It writes UTF-8 to its standard output.
        let limits = "ulimit -v \(Self.memoryMax >> 10); ulimit -t \(Self.secondsMax); ulimit -c 0"
        process.arguments = ["-c", "\(limits); exec \"$0\" -q -enc UTF-8 \"$1\" -", program, path]
        process.environment = ["LC_ALL": "C", "PATH": "/usr/bin:/bin"]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        var lines = TextCollector()
        var total = 0
        while true {
            let piece = output.fileHandleForReading.readData(ofLength: 64 << 10)
            total += piece.count
            guard !piece.isEmpty, total <= Self.outputMax else { break }
            lines.add(piece)
        }
        if total > Self.outputMax { process.terminate() }
        process.waitUntilExit()
        let parts = lines.finish()
        if total > Self.outputMax { return PageContent(type: "pdf", missing: .tooLarge) }
        switch process.terminationStatus {
        case 0 where process.terminationReason == .exit:
            return PageContent(type: "pdf", parts: parts, missing: parts.isEmpty ? .empty : nil)
        default: return PageContent(type: "pdf", missing: .unreadablePDF)
        }
        #else
        return PageContent(type: "pdf", missing: .noPDFReader)
        #endif
    }

    /// Whether the trailer names an encryption dictionary. ISO 32000-1 §7.6.1
    private func isEncrypted(_ path: String) throws -> Bool {
        let file = try Descriptor(path: path, flags: O_RDONLY)
        let size = Int(try file.status().st_size)
        var rest: [UInt8] = []
        for offset in stride(from: 0, to: size, by: 1 << 20) {
            let bytes =
                rest + (try file.bytes(named: path).read(at: UInt64(offset), count: min(1 << 20, size - offset)))
            if bytes.firstRange(of: Array("/Encrypt".utf8)) != nil { return true }
            rest = bytes.suffix(8)
        }
        return false
    }

    private static let program: String? = [
        "/usr/bin/pdftotext", "/usr/local/bin/pdftotext", "/opt/homebrew/bin/pdftotext",
    ]
    .first { access($0, X_OK) == 0 }
    private static let memoryMax = 512 << 20
    private static let secondsMax = 10
    private static let outputMax = 64 << 20
}
