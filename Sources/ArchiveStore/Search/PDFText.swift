import Foundation
import WebArchive

/// Reads the text of a PDF with `pdftotext`.
struct PDFText {
    private let layout: StoreLayout
    /// `nil` if it isn't installed.
    private let program: PDFProgram?
    /// Why PDFs can't be read at all; `nil` if they can.
    let obstacle: MissingText?

    init(_ store: ArchiveStore) {
        (layout, program) = (store.layout, PDFProgram.installed)
        obstacle =
            program.map { $0.sandbox == nil && !store.readsPDFsWithoutSandbox ? .noPDFSandbox : nil } ?? .noPDFReader
    }

    /// What reading a document may cost.
    struct Limits {
        /// The maximum size of the document.
        let documentBytes: UInt64
        /// The maximum processor time of the program.
        let processorSeconds: UInt32
        /// The maximum memory of the program, in bytes.
        let memory: UInt64
    }

    /// Reads the text of a document.
    ///
    /// - Parameters:
    ///   - spent: Called with the seconds of processor time that the program took.
    /// - Throws: The errors of reading the document; `tooLarge`; `TextLimitReached`; `StoreError` if
    ///   there is no space for a copy of the document.
    func read(
        _ document: DocumentText, _ text: inout PageTextParts, limits: Limits, spent: (Double) -> Void
    ) throws {
        guard obstacle == nil, var program else {
            text.content.missing = obstacle
            return
        }
        program.processorSecondsMax = min(program.processorSecondsMax, limits.processorSeconds)
        program.memoryMax = min(program.memoryMax, limits.memory)
        try layout.withStagingFile { file in
            var size: UInt64 = 0
            try document.readBytes { piece in
                size += UInt64(piece.count)
                guard size <= limits.documentBytes else {
                    throw WebArchiveError(
                        code: .tooLarge, problem: "the PDF exceeds the limit of \(limits.documentBytes) bytes",
                        file: "a PDF")
                }
                try file.append(piece)
            }
            let end = try program.run(["-q", "-enc", "UTF-8", file.path, "-"], input: file.path, spent: spent) {
                try text.add($0)
            }
            switch end {
            case .success: try text.finish()
            case _ where text.hasParts: text.content.missing = .rest
            case .tooMuchOutput: text.content.missing = .tooLarge
            case .failure: text.content.missing = try isEncrypted(file.path) ? .encryptedPDF : .unreadablePDF
            }
        }
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
}
