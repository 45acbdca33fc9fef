import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads the text of a PDF with `pdftotext`.
struct PDFText {
    let layout: StoreLayout
    /// `nil` if it isn't installed.
    let program: PDFProgram?
    let allowsNoSandbox: Bool

    init(_ store: ArchiveStore) {
        self.init(
            layout: store.layout, program: PDFProgram.installed, allowsNoSandbox: store.readsPDFsWithoutSandbox)
    }

    init(layout: StoreLayout, program: PDFProgram?, allowsNoSandbox: Bool) {
        (self.layout, self.program, self.allowsNoSandbox) = (layout, program, allowsNoSandbox)
    }

    /// Why PDFs can't be read at all; `nil` if they can.
    var obstacle: MissingText? {
        guard let program else { return .noPDFReader }
        return program.sandbox == nil && !allowsNoSandbox ? .noPDFSandbox : nil
    }

    /// Returns the text of a document.
    ///
    /// - Throws: The errors of reading the document; `StoreError` if there is no space for a copy of it.
    func read(_ document: DocumentText) throws -> PageContent {
        guard obstacle == nil, let program else { return PageContent(type: "pdf", missing: obstacle) }
        return try layout.withStagingFile { file in
            try document.readBytes { try file.append($0) }
            let content = try read(file.path, with: program)
            guard content.missing == .unreadablePDF, try isEncrypted(file.path) else { return content }
            return PageContent(type: "pdf", missing: .encryptedPDF)
        }
    }

    private func read(_ path: String, with program: PDFProgram) throws -> PageContent {
        var lines = TextCollector()
        let end = try program.run(["-q", "-enc", "UTF-8", path, "-"], input: path) { lines.add($0) }
        let parts = lines.finish()
        return switch end {
        case .success: PageContent(type: "pdf", parts: parts, missing: parts.isEmpty ? .empty : nil)
        case .failure: PageContent(type: "pdf", missing: .unreadablePDF)
        case .tooMuchOutput: PageContent(type: "pdf", missing: .tooLarge)
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
