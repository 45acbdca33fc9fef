import Foundation
import WebArchive

/// A file that was read and can be replayed, with its findings.
struct ExaminedArchive {
    let wacz: WACZFile
    let inspection: WACZInspection
    let findings: [Finding]
    /// The hashes of all index entries; `nil` if there are too many. See `CaptureFilters`.
    let hashes: [UInt32]?
    /// The most likely main page of the page list; `nil` if it's empty.
    private let likelyMainPage: Page?

    /// Reads a file's structure, index and pages.
    ///
    /// - Parameters:
    ///   - source: Opens the file. Its errors are errors of the file.
    ///   - opened: A file with the same content that is already open, so that its structure isn't read again.
    ///   - showsUncovered: Whether to read also what the signature doesn't cover.
    ///   - alsoFound: Findings that the file itself doesn't show.
    ///   - isStrict: Whether to verify the file, and to refuse it for any warning or error.
    ///   - progress: Called with the bytes of index and page lists that were read, and their total; throws to stop.
    /// - Throws: `StoreError` `refused` if the file can't be replayed.
    init(
        reading source: @autoclosure () throws -> any ByteSource, opened: WACZFile? = nil, showsUncovered: Bool = false,
        alsoFound: [Finding] = [], isStrict: Bool = false,
        progress: (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
    ) throws {
        wacz = try StoreError.refusingDamage {
            let file = try source()
            let wacz = try opened?.reading(from: file) ?? WACZFile.open(file)
            return showsUncovered ? wacz.showingUncovered() : wacz
        }
        var choice = MainPageChoice()
        var isChoosing = true
        var hashes = CaptureFilters.Hashes()
        inspection = try StoreError.refusingDamage { [wacz] in
            try wacz.inspect(progress: progress) { entry in
                hashes.add(entry)
            } page: { page in
                if isChoosing, page.url.utf8.count <= TextLimits.url { isChoosing = choice.add(page) }
            }
        }
        self.hashes = hashes.sorted
        likelyMainPage = choice.page
        guard isStrict else {
            findings = alsoFound + inspection.findings
            return
        }
        let verified = try withoutActuallyEscaping(progress) { [wacz] progress in
            try StoreError.refusingDamage {
                try ArchiveVerifier(wacz, lookups: FileLookups(wacz)) { done, _ in try progress(done, wacz.size) }.run()
            }
        }.findings
        // Verification finds damaged records again.
        let known = Set(verified.map(\.code))
        findings = alsoFound.filter { !known.contains($0.code) } + verified
        if let worst = findings.filter({ $0.severity > .notice }).max(by: { $0.severity < $1.severity }) {
            throw StoreError(
                .refused, "not added because of --strict: \(worst.what)", place: "\(worst.location) in \(wacz.name)",
                hint: "import it without --strict to add it anyway")
        }
    }

    /// The title in the package's metadata; `nil` if it has none.
    var title: String? {
        wacz.dataPackage?.title.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0.truncated(bytes: TextLimits.title) }
    }

    /// Returns the archive for the file.
    ///
    /// - Parameter lookups: How its captures are looked up; `nil` if that isn't known.
    func archive(
        key: String, id: ArchiveID, sha256: String?, storage: ArchiveStorage, entry: LibraryEntry,
        lookups: ArchiveLookups?
    ) -> Archive {
        Archive(
            key: key, id: id, sha256: sha256, size: wacz.size, storage: storage, entry: entry,
            summary: summary(lookups))
    }

    /// Returns what was read from the file.
    func summary(_ lookups: ArchiveLookups?) -> ArchiveSummary {
        let package = wacz.dataPackage
        let main = mainPage()
        return ArchiveSummary(
            createdAt: package?.created.flatMap { CaptureTimestamp(pageTime: $0)?.date },
            description: package?.description?.truncated(bytes: TextLimits.description),
            software: package?.software?.truncated(bytes: TextLimits.title),
            waczVersion: package?.waczVersion?.truncated(bytes: TextLimits.title), mainPageURL: main?.url,
            mainPageTimestamp: main?.timestamp, pageCount: inspection.pageCount, captureCount: inspection.captureCount,
            firstCapture: inspection.firstCapture?.digits14, lastCapture: inspection.lastCapture?.digits14,
            findingCounts: FindingCounts(findings), indexStrategy: lookups?.strategy, lookupsReason: lookups?.reason)
    }

    /// Calls `body` with each page in order. Skips pages whose URL is too long to open.
    func forEachPage(_ body: (ArchivePage) throws -> Void) throws {
        var position = 0
        _ = try wacz.forEachPage { page in
            guard page.url.utf8.count <= TextLimits.url else { return true }
            try body(
                ArchivePage(
                    position: position, list: page.list.rawValue, url: page.url, timestamp: page.captureTime?.digits14,
                    title: page.title?.truncated(bytes: TextLimits.title)))
            position += 1
            return true
        }
    }

    /// The maximum size of a URL that can be opened, in bytes.
    static let urlBytesMax = TextLimits.url

    /// Returns the main page that the package names, else the most likely page of its list.
    private func mainPage() -> (url: String, timestamp: String?)? {
        if let main = wacz.mainPage, main.url.utf8.count <= TextLimits.url {
            return (main.url, main.timestamp?.digits14)
        }
        return likelyMainPage.map { ($0.url, $0.captureTime?.digits14) }
    }
}

/// The maximum sizes of an archive's texts in the catalog, in bytes. A request can return a thousand pages.
private enum TextLimits {
    static let title = 1 << 10
    static let url = 16 << 10
    static let description = 16 << 10
}

extension String {
    /// Returns the text, shortened to whole characters within a limit.
    fileprivate func truncated(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var scalars = unicodeScalars[...]
        var size = utf8.count
        while size > limit - 3, let last = scalars.popLast() { size -= UTF8.width(last) }
        return String(String.UnicodeScalarView(scalars)) + "…"
    }
}
