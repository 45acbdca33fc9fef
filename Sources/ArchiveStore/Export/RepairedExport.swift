import WebArchive

extension Exporter {
    /// Writes an archive again: its WARC files as they are, with a new index, a page list if it has none, and the right hashes.
    package func repaired(_ archive: Archive, to target: Target) throws -> Result {
        let file = try archive.openFile(in: store.layout).bytes(named: "\(archive.id).wacz")
        return try StoreError.refusingDamage {
            let wacz = try WACZFile.open(file)
            // They're written without compression by the ZIP.
            var limit = ExportLimit(archive)
            for entry in wacz.directory.entries { try limit.add(entry.uncompressedSize) }
            let before = try wacz.inspect()
            var converted: Set<String> = []
            while true {
                var repair = Repair(wacz, before: before, writer: try target.wacz(), converted: converted)
                do {
                    try repair.addFiles { try progress(min($0, file.size), file.size) }
                    return try repair.finish(Self.source(archive))
                } catch let other as OtherMembers where !converted.contains(other.file) {
                    // Only known now: from the start again.
                    converted.insert(other.file)
                }
            }
        }
    }
}

/// Writes a WACZ again, and notes what changes.
private struct Repair {
    private let wacz: WACZFile
    private let before: WACZInspection
    private let writer: WACZWriter
    /// The WARC files whose gzip members aren't their records.
    private let converted: Set<String>
    private var changes: [String] = []
    /// Whether the page list was written again, so that its hash says nothing about the one before.
    private var rewritesPages = false

    init(_ wacz: WACZFile, before: WACZInspection, writer: WACZWriter, converted: Set<String>) {
        (self.wacz, self.before, self.writer, self.converted) = (wacz, before, writer, converted)
    }

    mutating func addFiles(progress: (UInt64) throws -> Void) throws {
        var done: UInt64 = 0
        for entry in wacz.warcEntries {
            let name = String(wacz.path(of: entry).dropFirst("archive/".count))
            let source = try writer.source(of: entry, in: wacz)
            if try !writer.addCaptures(
                source, name: name, converts: converted.contains(source.name), keepsName: true,
                detectsPages: before.pageCount == 0,
                progress: { try progress(done + $0) })
            {
                try writer.addFile(wacz.path(of: entry), source)
            }
            if entry.method != .stored { changes.append("File \(entry.name): no longer compressed by the ZIP.") }
            done += entry.uncompressedSize
        }
        try addPages()
        let rebuilt = Set(wacz.warcEntries.map(\.name) + wacz.indexEntries.map(\.name) + wacz.pageEntries.map(\.name))
        for entry in wacz.directory.entries where !entry.isDirectory && !rebuilt.contains(entry.name) {
            guard !wacz.path(of: entry).hasPrefix("indexes/"), !entry.name.hasPrefix("datapackage") else { continue }
            guard !wacz.isSetAside(entry) else {
                changes.append("Left out \(entry.name.prefix(200)): the signature doesn't cover it.")
                continue
            }
            guard wacz.directory.entry(named: entry.name) == entry else {
                changes.append("Left out \(entry.name.prefix(200)): its name isn't safe.")
                continue
            }
            try writer.addFile(entry.name, try writer.source(of: entry, in: wacz))
        }
    }

    /// Keeps the page lists, without lines that can't be read.
    private mutating func addPages() throws {
        guard before.pageCount > 0 else { return }
        let damage = before.findings.filter { $0.code.hasPrefix("page-") || $0.code == "pages-damaged" }
        guard !damage.isEmpty || wacz.pageEntries.isEmpty else {
            for entry in wacz.pageEntries {
                try writer.addFile(wacz.path(of: entry), try writer.source(of: entry, in: wacz))
            }
            return
        }
        rewritesPages = true
        let reader = wacz.makePageReader(keepsText: true)
        while let page = try reader.next() {
            try writer.addPage(url: page.url, time: page.captureTime, title: page.title, text: page.text)
        }
        if !damage.isEmpty {
            changes.append("Page list: left out what can't be read (\(damage[0].location)).")
        }
    }

    mutating func finish(_ source: PackageDescription.Source) throws -> Exporter.Result {
        var description = PackageDescription(of: wacz)
        description.sources.append(source)
        let written = try writer.finish(description)
        let indexDamage = before.findings.first { $0.code.hasPrefix("index-") || $0.code.hasPrefix("idx-") }
        if wacz.indexEntries.isEmpty {
            changes.append("Index: created; captures: \(written.captureCount).")
        } else if let indexDamage {
            changes.append("Index: rebuilt; captures: \(written.captureCount). Before: \(indexDamage.what)")
        } else if written.captureCount != before.captureCount {
            changes.append("Index: rebuilt; captures: \(written.captureCount), \(before.captureCount) before.")
        }
        if before.pageCount == 0, written.pageCount > 0 {
            changes.append("Page list: created; detected pages: \(written.pageCount).")
        }
        changes += hashChanges(written.files)
        if wacz.digest?.signer != nil {
            changes.append("Signature: left out, since the description of the files has changed.")
        }
        return Exporter.Result(
            captureCount: written.captureCount, pageCount: before.pageCount == 0 ? written.pageCount : before.pageCount,
            changes: changes, findings: written.findings)
    }

    /// Compares the hashes in `datapackage.json`, before and now.
    private func hashChanges(_ files: [WACZWriter.WrittenFile]) -> [String] {
        guard let package = wacz.dataPackage else { return ["Description (datapackage.json): created."] }
        let listed = Dictionary(package.resources.map { ($0.path, $0) }) { first, _ in first }
        var changes: [String] = []
        for file in files where wacz.directory.entry(named: file.path) != nil && !file.path.hasPrefix("indexes/") {
            if rewritesPages, file.path.hasPrefix("pages/") { continue }
            guard let hash = listed[file.path]?.hash else {
                changes.append("Hash of \(file.path): added.")
                continue
            }
            if hash.algorithm == .sha256, hash.hex != file.sha256 {
                changes.append(
                    "Hash of \(file.path): corrected. The file was changed or damaged after the archive was made.")
            }
        }
        let names = Set(files.map(\.path))
        for path in listed.keys.sorted() where !names.contains(path) && wacz.directory.entry(named: path) == nil {
            changes.append("File \(path): no longer listed, since it isn't there.")
        }
        return changes
    }
}
