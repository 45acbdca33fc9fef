import GRDB
import WebArchive

/// A picture of an archive that is in the archive itself.
package struct Thumbnail: Sendable, Hashable {
    let size: ImageHeader
    package let bytes: [UInt8]

    /// The media type, according to the bytes.
    package var type: String { size.type }
}

extension ImageHeader {
    /// Whether it's more than a dot or a line.
    fileprivate var isPicture: Bool { min(width, height) >= 32 && max(width, height) <= 5 * min(width, height) }
}

/// The pictures that crawlers store in archives: records with the URL `urn:thumbnail:URL` or `urn:view:URL`
/// (Browsertrix, ArchiveWeb.page), or `file:///screenshot.png` (Scoop). For archives without them, the largest image of the main
/// page.
package struct Thumbnails: Sendable {
    let store: ArchiveStore

    /// Where a picture is, as stored in the catalog: the timestamp and the URL of its capture.
    private struct Place {
        let url: String
        let timestamp: String

        var text: String { "\(timestamp) \(url)" }

        init(_ entry: CDXJEntry) { (url, timestamp) = (entry.url, entry.timestamp) }

        /// The page of which this is a screenshot; `nil` for another image.
        func page(of archive: Archive) -> String? {
            for prefix in [Thumbnails.prefix, Thumbnails.viewPrefix] where url.hasPrefix(prefix) {
                return String(url.dropFirst(prefix.count))
            }
            return url == Thumbnails.scoopURL ? archive.summary.mainPageURL : nil
        }

        /// - Returns: `nil` for an archive without a picture.
        init?(text: String) {
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            (timestamp, url) = (parts[0], parts[1])
        }
    }

    /// Returns whether an archive has a picture, as far as it was read, and the page of which it's a screenshot.
    func known(of archive: Archive) throws -> (hasThumbnail: Bool, page: String?) {
        let place = try store.catalog.thumbnail(key: archive.key).flatMap { Place(text: $0) }
        return (place != nil, place?.page(of: archive))
    }

    /// Whether an archive may have a picture: `false` if it is known to have none.
    package func mayHaveThumbnail(_ archive: Archive) throws -> Bool {
        try store.catalog.thumbnail(key: archive.key) != ""
    }

    /// Returns an archive's picture; `nil` if it has none, or not any more.
    ///
    /// - Throws: `StoreError` if the archive's file is unavailable.
    package func thumbnail(of archive: Archive) throws -> Thumbnail? {
        let indexed = try store.openArchives.lookups(archive, Allowances())
        guard let known = try store.catalog.thumbnail(key: archive.key) else {
            return try stored(in: indexed, CancellationCheck())?.thumbnail
        }
        guard let place = Place(text: known) else { return nil }
        let entry = try entry(
            place.url, at: CaptureTimestamp(digits: place.timestamp), in: indexed, CancellationCheck())
        return try entry.flatMap { try read($0, in: indexed, CancellationCheck()) }
    }

    /// Finds an archive's picture, and saves in the catalog where it is.
    func note(of archive: Archive, _ check: CancellationCheck) throws {
        let indexed = try store.openArchives.lookups(archive, Allowances())
        let found = try stored(in: indexed, check) ?? imageOfMainPage(in: indexed, check)
        try store.catalog.setThumbnail(found.map { Place($0.entry).text } ?? "", key: archive.key)
    }

    /// Returns the first picture of the crawler that can be shown: that of the main page, of another page, a large one of the
    /// main page, or Scoop's.
    private func stored(
        in indexed: IndexedArchive, _ check: CancellationCheck
    ) throws -> (entry: CDXJEntry, thumbnail: Thumbnail)? {
        let page = indexed.archive.summary.mainPageURL
        let time = indexed.archive.summary.mainPageTimestamp.flatMap { CaptureTimestamp(digits: $0) }
        func first(_ url: String?) throws -> (CDXJEntry, Thumbnail)? {
            guard let url, let entry = try entry(url, at: time, in: indexed, check) else { return nil }
            return try read(entry, in: indexed, check).map { (entry, $0) }
        }
        if let found = try first(page.map { Self.prefix + $0 }) { return found }
        let others = indexed.wacz.captures(matching: CaptureQuery(url: Self.prefix, matchType: .prefix))
        for _ in 0..<Self.othersMax {
            guard let entry = try others.next() else { break }
            if let thumbnail = try read(entry, in: indexed, check) { return (entry, thumbnail) }
        }
        return try first(page.map { Self.viewPrefix + $0 }) ?? first(Self.scoopURL)
    }

    /// Returns the image with the most pixels that the HTML of the main page names, also as its icon.
    private func imageOfMainPage(
        in indexed: IndexedArchive, _ check: CancellationCheck
    ) throws -> (entry: CDXJEntry, thumbnail: Thumbnail)? {
        let summary = indexed.archive.summary
        let time = summary.mainPageTimestamp.flatMap { CaptureTimestamp(digits: $0) }
        guard let page = summary.mainPageURL, let document = try entry(page, at: time, in: indexed, check),
            let html = try body(of: document, in: indexed, upTo: Self.documentBytesMax, check)
        else { return nil }
        var links = ResourceLinks()
        links.readHTML(html)
        let base = links.base.flatMap { URLReference.resolve($0, against: document.url) } ?? document.url
        let urls = links.links.filter(\.isCertain).compactMap { URLReference.resolve($0.text, against: base) }
        var images: [CDXJEntry] = []
        for url in urls.prefix(Self.linksMax) where url.hasPrefix("http") {
            let found = try entry(url, at: CaptureTimestamp(digits: document.timestamp), in: indexed, check)
            if let found, found.mime?.hasPrefix("image/") == true { images.append(found) }
        }
        // What takes more bytes is likely to have more pixels.
        images.sort { $0.length ?? 0 > $1.length ?? 0 }
        let pictures = try images.prefix(Self.imagesMax).compactMap { entry in
            try read(entry, in: indexed, check).map { (entry: entry, thumbnail: $0) }
        }
        return pictures.filter { $0.thumbnail.size.isPicture }.max {
            $0.thumbnail.size.pixels < $1.thumbnail.size.pixels
        }
    }

    private func entry(
        _ url: String, at time: CaptureTimestamp?, in indexed: IndexedArchive, _ check: CancellationCheck
    ) throws -> CDXJEntry? {
        let request = ArchiveStore.CaptureRequest(url: url, time: time)
        return try indexed.closestCapture(CaptureLookup(request, check)) { $0.url == url }
    }

    /// Reads a picture; `nil` if it is too large or damaged, has another format, or belongs to another URL.
    ///
    /// Revisits aren't followed: crawlers write none for pictures, and their payload can be anywhere.
    private func read(
        _ entry: CDXJEntry, in indexed: IndexedArchive, _ check: CancellationCheck
    ) throws -> Thumbnail? {
        let bytesMax =
            entry.url.hasPrefix(Self.prefix)
            ? Self.thumbnailBytesMax : entry.url.hasPrefix("http") ? Self.imageBytesMax : Self.viewBytesMax
        guard let bytes = try body(of: entry, in: indexed, upTo: bytesMax, check), let header = ImageHeader(bytes),
            header.pixels <= Self.pixelsMax
        else { return nil }
        return Thumbnail(size: header, bytes: bytes)
    }

    /// Reads a body; `nil` if it is too large or damaged, or belongs to another URL.
    private func body(
        of entry: CDXJEntry, in indexed: IndexedArchive, upTo bytesMax: Int, _ check: CancellationCheck
    ) throws -> [UInt8]? {
        do {
            let content = try indexed.wacz.content(of: entry, check)
            guard !content.record.isRevisit, content.record.targetURI == entry.url else { return nil }
            let bytes = try CaptureBody(content: content).open(decoded: true).read(upTo: bytesMax + 1)
            return bytes.count <= bytesMax ? bytes : nil
        } catch  where ![.io, .cancelled].contains(error.code) {
            return nil
        }
    }

    private static let (prefix, viewPrefix, scoopURL) = ("urn:thumbnail:", "urn:view:", "file:///screenshot.png")
    /// The number of thumbnails of other pages that are tried.
    private static let othersMax = 8
    /// A list shows many thumbnails at once. Browsertrix writes about 10 kB.
    private static let thumbnailBytesMax = 300_000
    /// Pictures of whole windows are PNG files of up to 2 MB.
    private static let viewBytesMax = 3_000_000
    private static let imageBytesMax = 1_000_000
    private static let documentBytesMax = 2_000_000
    /// The number of URLs in a page that are looked up, and of images that are read.
    private static let (linksMax, imagesMax) = (200, 8)
    /// A small file can have a huge size, which a browser would need memory for: 160 MB for this many pixels.
    private static let pixelsMax = 40_000_000
}

extension Catalog {
    /// Returns where an archive's picture is: empty if it has none, `nil` if that isn't known.
    func thumbnail(key: String) throws -> String? {
        try reading {
            try String.fetchOne(
                $0, sql: "SELECT thumbnail FROM archive WHERE key = ? AND thumbnail IS NOT NULL", arguments: [key])
        }
    }

    func setThumbnail(_ place: String, key: String) throws {
        try writing {
            try $0.execute(sql: "UPDATE archive SET thumbnail = ? WHERE key = ?", arguments: [place, key])
        }
    }
}
