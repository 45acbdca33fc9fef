import WebArchive

/// The captures that make up one page, and what stood for a URL that the page requested in another form.
package struct PageParts: Sendable, Encodable {
    /// One capture of the page.
    package struct Part: Sendable, Hashable, Encodable {
        package let capture: CaptureSummary
        /// The requested URL, if it isn't that of the capture.
        package let asked: String?
        /// How the requested URL differs from that of the capture.
        package let match: Match?
        /// For a revisit, the capture whose content is shown.
        package let content: CaptureSummary?

        private enum CodingKeys: String, CodingKey {
            case asked, match, content
        }

        package func encode(to encoder: any Encoder) throws {
            try capture.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(asked, forKey: .asked)
            try container.encodeIfPresent(match, forKey: .match)
            try container.encodeIfPresent(content, forKey: .content)
        }
    }

    /// How a requested URL differs from that of the capture that answered it.
    package enum Match: String, Sendable, Encodable {
        /// Another form of the same URL, such as `http` for `https`; see `CaptureMatcher`.
        case otherForm = "other-form"
        /// A similar URL; see `FuzzyMatch`.
        case similar
    }

    /// A request of a page, and what answered it.
    package struct Request: Sendable, Hashable {
        package let url: String
        /// The URL and the time of the capture; `nil` if there was none.
        package let answer: ArchiveStore.CaptureRequest?

        package init(url: String, answer: ArchiveStore.CaptureRequest?) {
            (self.url, self.answer) = (url, answer)
        }
    }

    /// Each capture once, earliest first.
    package fileprivate(set) var parts: [Part] = []
    /// Requested URLs without a capture, in the order of the requests.
    package fileprivate(set) var missing: [String] = []
    /// Whether these are all requests of the page.
    package fileprivate(set) var isComplete: Bool
}

extension Resolver {
    /// Looks up the captures with which the requests of a page were answered.
    ///
    /// What isn't in the index at exactly that time is left out, and the list isn't complete then.
    ///
    /// - Parameters:
    ///   - isComplete: Whether these are all requests of the page.
    ///   - isWanted: See `closestCapture(_:in:isWanted:)`.
    package func parts(
        _ requests: [PageParts.Request], isComplete: Bool, in replayable: Replayable,
        isWanted: @escaping () -> Bool
    ) throws -> PageParts {
        try StoreError.refusingDamage {
            let check = CancellationCheck(isWanted)
            var parts = PageParts(isComplete: isComplete)
            // The same capture can answer several requests. One in another form says more.
            var found: [CaptureSummary: PageParts.Part] = [:]
            var missing: Set<String> = []
            for request in requests {
                guard let answer = request.answer else {
                    // A frame that a script fills has a URL of its own, but no capture.
                    let isOnWeb = request.url.hasPrefix("http")
                    if isOnWeb, missing.insert(request.url).inserted { parts.missing.append(request.url) }
                    continue
                }
                guard let part = try part(request.url, answer, in: replayable, check) else {
                    parts.isComplete = false
                    continue
                }
                if found[part.capture]?.match == nil { found[part.capture] = part }
            }
            parts.parts = found.values.sorted {
                ($0.capture.timestamp, $0.capture.url) < ($1.capture.timestamp, $1.capture.url)
            }
            return parts
        }
    }

    /// Returns the capture that has exactly the time of the answer; `nil` if there's none.
    private func part(
        _ url: String, _ answer: ArchiveStore.CaptureRequest, in replayable: Replayable, _ check: CancellationCheck
    ) throws -> PageParts.Part? {
        let lookup = CaptureLookup(answer, check)
        guard let found = try closestCopy(lookup, in: replayable.archives), found.entry.captureTime == answer.time
        else { return nil }
        func summary(_ entry: CDXJEntry, in archive: Archive) -> CaptureSummary {
            var summary = CaptureSummary(entry, in: archive)
            if archive.id == replayable.id { summary.archiveID = nil }
            return summary
        }
        let capture = summary(found.entry, in: found.index.archive)
        let match: PageParts.Match? =
            CaptureMatcher.isSpelled(url, as: capture.url) || url == capture.request
            ? nil : CaptureMatcher(url: url).accepts(found.entry) ? .otherForm : .similar
        return PageParts.Part(
            capture: capture, asked: match == nil ? nil : url, match: match,
            content: try content(of: found, in: replayable, check).map { summary($0.entry, in: $0.index.archive) })
    }

    /// Returns the capture whose content is shown for a revisit or an unchanged response; `nil` for others.
    private func content(of found: Found, in replayable: Replayable, _ check: CancellationCheck) throws -> Found? {
        guard found.entry.isRevisit || found.entry.status == 304 else { return nil }
        do {
            let own = try found.index.wacz.content(of: found.entry, check)
            guard own.record.isRevisit || own.isNotModified else { return nil }
            let payload = try repeatedPayload(
                of: own, found.entry, in: found.index, collection: replayable.archives, check)
            return (payload.source, payload.entry)
        } catch let error as StoreError where error.code == .payloadMissing {
            return nil
        }
    }
}
