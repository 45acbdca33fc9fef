import Crypto
import Foundation
import Synchronization
import WebArchive

/// A file that was read and found replayable, with all that was learned from it.
struct ExaminedArchive {
    let wacz: WACZFile
    let inspection: WACZInspection
    let findings: [Finding]

    /// Reads a file's structure, index and pages.
    ///
    /// - Parameters:
    ///   - opened: A file with the very same bytes, whose structure is not read again.
    ///   - isStrict: Whether the hashes inside the package are checked, and any finding above a notice refuses it.
    ///   - progress: Gets the bytes of index and page lists read, of all; throws to stop.
    /// - Throws: `StoreError` `refused` when it could not be replayed.
    init(
        reading path: String, name: String, opened: WACZFile? = nil, isStrict: Bool = false,
        progress: (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
    ) throws {
        wacz = try StoreError.refusingDamage {
            let file = try FileByteSource(path: path, name: name)
            return try opened?.reading(from: file) ?? WACZFile.open(file)
        }
        inspection = try StoreError.refusingDamage { [wacz] in try wacz.inspect(progress: progress) }
        guard isStrict else {
            findings = inspection.findings
            return
        }
        findings = try inspection.findings + ResourceHashes(wacz: wacz).findings { try progress(0, 0) }
        if let worst = findings.filter({ $0.severity > .notice }).max(by: { $0.severity < $1.severity }) {
            throw StoreError(
                .refused, "refused because of --strict: \(worst.what)", place: "\(worst.location) in \(name)",
                hint: "import without --strict to use what can be replayed")
        }
    }

    /// The package's own title; `nil` when it has none.
    var title: String? {
        wacz.dataPackage?.title.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0.bounded(bytes: TextLimits.title) }
    }

    /// The archive that the file makes.
    ///
    /// - Parameter lookups: How its captures are looked up; `nil` when that is not known.
    func archive(
        key: String, id: ArchiveID, sha256: String?, storage: ArchiveStorage, entry: LibraryEntry,
        lookups: ArchiveLookups?
    ) -> Archive {
        Archive(
            key: key, id: id, sha256: sha256, size: wacz.size, storage: storage, entry: entry,
            summary: summary(lookups))
    }

    /// What reading the file found.
    func summary(_ lookups: ArchiveLookups?) -> ArchiveSummary {
        let package = wacz.dataPackage
        let main = mainPage()
        return ArchiveSummary(
            createdAt: package?.created.flatMap { CaptureTimestamp(pageTime: $0)?.date },
            description: package?.description?.bounded(bytes: TextLimits.description),
            software: package?.software?.bounded(bytes: TextLimits.title),
            waczVersion: package?.waczVersion?.bounded(bytes: TextLimits.title), mainPageURL: main?.url,
            mainPageTimestamp: main?.timestamp, pageCount: inspection.pageCount, captureCount: inspection.captureCount,
            firstCapture: inspection.firstCapture?.digits14, lastCapture: inspection.lastCapture?.digits14,
            findingCounts: FindingCounts(findings), indexStrategy: lookups?.strategy, lookupsReason: lookups?.reason)
    }

    /// Hands over the pages in their order, one at a time. A page whose URL is longer than any that could be visited is left
    /// out.
    func forEachPage(_ body: (ArchivePage) throws -> Void) throws {
        var position = 0
        _ = try wacz.forEachPage { page in
            guard page.url.utf8.count <= TextLimits.url else { return true }
            try body(
                ArchivePage(
                    position: position, list: page.list.rawValue, url: page.url, timestamp: page.captureTime?.digits14,
                    title: page.title?.bounded(bytes: TextLimits.title)))
            position += 1
            return true
        }
    }

    /// What the package names, else the most likely page of its list.
    private func mainPage() -> (url: String, timestamp: String?)? {
        if let main = wacz.mainPage, main.url.utf8.count <= TextLimits.url {
            return (main.url, main.timestamp?.digits14)
        }
        var choice = MainPageChoice()
        // Damage in the list is among the findings already; here it only means that there are fewer pages to choose from.
        _ = try? wacz.forEachPage { page in
            guard page.url.utf8.count <= TextLimits.url else { return true }
            return choice.add(page)
        }
        return choice.page.map { ($0.url, $0.captureTime?.digits14) }
    }
}

/// How much of an archive's own words the catalog keeps, in bytes: it is asked for a thousand pages at once.
private enum TextLimits {
    static let title = 1 << 10
    static let url = 16 << 10
    static let description = 16 << 10
}

extension String {
    /// The beginning of the text, whole characters only.
    fileprivate func bounded(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var scalars = unicodeScalars[...]
        var size = utf8.count
        while size > limit - 3, let last = scalars.popLast() { size -= UTF8.width(last) }
        return String(String.UnicodeScalarView(scalars)) + "…"
    }
}

/// Checks the SHA-256 of every resource that the package lists, streaming. WACZ 1.1.1 §5.2, `hash`.
struct ResourceHashes {
    let wacz: WACZFile

    /// - Parameter checkCancellation: Called for every stretch read; throws to stop.
    func findings(checkCancellation: () throws -> Void) throws -> [Finding] {
        var findings: [Finding] = []
        for resource in wacz.dataPackage?.resources ?? [] {
            guard let expected = resource.hash, let entry = wacz.directory.entry(named: resource.path) else { continue }
            guard expected.algorithm == .sha256 else {
                findings.append(unchecked(resource.path))
                continue
            }
            var hash = SHA256()
            do {
                try wacz.directory.stream(of: entry).forEachChunk(chunkBytesMax: 1 << 20) {
                    try checkCancellation()
                    hash.update(bufferPointer: $0)
                    return true
                }
            } catch let error as WebArchiveError {
                throw StoreError.refused(error)
            }
            if hash.finalize().hexadecimal != expected.hex { findings.append(mismatch(resource.path)) }
        }
        return findings
    }

    private func mismatch(_ path: String) -> Finding {
        Finding(
            severity: .error, code: "resource-hash",
            what: "the SHA-256 of \(path) is not the one that the package states",
            location: path, consequence: "the file was changed or damaged after the package was made")
    }

    private func unchecked(_ path: String) -> Finding {
        Finding(
            severity: .notice, code: "resource-hash-unchecked",
            what: "the hash of \(path) is of a kind that is not checked",
            location: path, consequence: "damage in it would not be noticed")
    }
}
