import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import WebArchive

/// `replayhost export ID`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Save an archive, a repaired copy of it, one page, or the captured files.",
        discussion: """
            Saves the archive's file as it is, unless you add --repaired, --page or --files. Existing files are never replaced. \
            --repaired writes a new index, a list of pages if there is none, and the right hashes; WARC files stay as they are. \
            --page saves one page with what it needs to replay, as an archive of its own. --files gives each file the time of its \
            capture, and lists URLs, times and digests in files.jsonl (docs/warc.md).

            Examples:
              replayhost export harbour --output harbour.wacz
              replayhost export harbour --page https://example.org/ --output page.wacz
              replayhost export harbour --files pictures --type image
            """)

    @Argument(help: ArgumentHelp("The archive's ID, a unique prefix of it, or its title.", valueName: "id"))
    var id: String

    @Option(
        name: .long,
        help: ArgumentHelp("The new file (default: in the current folder, named after the archive).", valueName: "file")
    )
    var output: String?

    @Flag(name: .long, help: "Rebuild what is missing or wrong, and list what changed.")
    var repaired = false

    @Option(name: .long, help: ArgumentHelp("Save only this page.", valueName: "url"))
    var page: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --page: the capture closest to this time (4 to 17 digits, UTC).", valueName: "timestamp"))
    var at: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Save the newest capture of each URL to this new folder, decompressed.", valueName: "folder")
    )
    var files: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --files: only this type (repeatable): \(MediaClass.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "type"))
    var type: [String] = []

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if [repaired, page != nil, files != nil].filter({ $0 }).count > 1 {
            throw ValidationError("--repaired, --page and --files can't be combined; choose one")
        }
        if files != nil, output != nil { throw ValidationError("--files names the folder; omit --output") }
        if files == nil, !type.isEmpty { throw ValidationError("--type needs --files") }
        for name in type where MediaClass(rawValue: name) == nil {
            throw ValidationError(
                "--type \"\(name)\" isn't known; use \(MediaClass.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if page == nil, at != nil { throw ValidationError("--at needs --page") }
        if let at, CaptureTimestamp(endOf: at) == nil {
            throw ValidationError("--at \"\(at)\" isn't a time; give 4 to 17 digits of YYYYMMDDhhmmss")
        }
        if output == "" || files == "" || page == "" { throw ValidationError("an option is empty; give a value") }
    }

    func run() throws {
        let store = try common.openExistingStore()
        let archive = try store.resolver.archive(matching: id)
        try ExportOutput(name: archive.id.text, common: common).run { line in
            let exporter = Exporter(store) { try line.show($0, of: $1) }
            if let files {
                let written = try exporter.files(
                    of: archive, to: files,
                    FileSelection(types: type.isEmpty ? nil : Set(type.compactMap { MediaClass(rawValue: $0) })))
                return .files(written, folder: files)
            }
            if let page {
                let request = ArchiveStore.CaptureRequest(
                    url: CapturedURL.completed(page), time: at.flatMap { CaptureTimestamp(endOf: $0) })
                let found = try exporter.page(request, of: archive)
                let path = output ?? found.fileName
                return .file(try found.write(to: .newFile(path)), path: path)
            }
            let path = path(of: archive, repaired ? "-repaired" : "")
            if repaired {
                let result = try exporter.repaired(archive, to: .newFile(path))
                return .file(result, path: path, note: result.changes.isEmpty ? "Nothing was missing or wrong." : nil)
            }
            return .file(try exporter.original(archive, to: .newFile(path)), path: path)
        }
    }

    private func path(of archive: Archive, _ suffix: String) -> String {
        output ?? "\(Exporter.fileName(of: archive, suffix))"
    }
}

/// Runs an export, with a line that shows progress, and writes its result.
struct ExportOutput {
    enum Written {
        case file(Exporter.Result, path: String, note: String? = nil)
        case files(Exporter.Files, folder: String)
    }

    /// A line that shows progress, and throws after an interrupt.
    final class Line {
        private var line: ProgressLine
        private let interrupts = Interrupts(isInstalled: true)

        init(name: String, isShown: Bool) {
            line = ProgressLine(name: name, isShown: isShown, batch: nil)
        }

        func show(_ done: UInt64, of total: UInt64) throws {
            if interrupts.wereReceived { throw StoreError(.interrupted, "interrupted; nothing was saved") }
            if total > 0 { line.show(.copying(done: done, total: total)) }
        }

        func clear() { line.clear() }
    }

    let name: String
    let common: CommonOptions

    func run(_ body: (Line) throws -> Written) throws {
        let line = Line(name: name, isShown: !common.quiet && !common.json)
        defer { line.clear() }
        let written = try body(line)
        line.clear()
        switch written {
        case .file(let result, let path, let note):
            write(result, path)
            if let note, !common.json { common.tell("  \(note)") }
        case .files(let files, let folder): write(files, folder)
        }
    }

    private struct SavedFile: Encodable {
        let file: String
        let size: UInt64
        let result: Exporter.Result
    }

    private func write(_ result: Exporter.Result, _ path: String) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let size = (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
        if common.json { return Terminal.writeJSON(SavedFile(file: path, size: size, result: result)) }
        let counts = [
            result.pageCount.map { Terminal.count($0, "page", "pages") },
            result.captureCount.map { Terminal.count($0, "capture", "captures") }, Terminal.size(size),
        ]
        common.tell("\(name): saved \(path) (\(counts.compactMap { $0 }.joined(separator: ", ")))")
        if let page = result.page {
            common.tell("  \(page.url), captured \(page.capturedAt ?? page.timestamp)")
        }
        for change in result.changes { common.tell("  \(change)") }
        for url in result.missing.prefix(10) { common.tell("  not captured: \(url)") }
        if result.missing.count > 10 { common.tell("  and \(result.missing.count - 10) more that weren't captured") }
        for finding in result.findings.prefix(10) {
            for line in FindingText.lines(finding, indentation: "  ") { common.tell(line) }
        }
    }

    private struct SavedFiles: Encodable {
        let folder: String
        let files: Exporter.Files
    }

    private func write(_ files: Exporter.Files, _ folder: String) {
        if common.json { return Terminal.writeJSON(SavedFiles(folder: folder, files: files)) }
        let count = Terminal.count(files.count, "file", "files")
        common.tell("\(name): saved \(count) (\(Terminal.size(files.size))) in \(folder)")
        guard files.failed > 0 else { return }
        let problem = files.problem.map { ": \($0)" } ?? ""
        common.tell("  \(Terminal.count(files.failed, "capture", "captures")) can't be read\(problem)")
    }
}
