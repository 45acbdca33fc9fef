import ArchiveStore
import CommandSupport
import WebArchive

/// An explanation as lines of text: the reasons, then the captures that can be opened instead.
struct ExplanationText {
    let lines: [String]

    init(_ explanation: Explanation) {
        var lines = [Self.heading(explanation)]
        for reason in explanation.reasons {
            lines += Self.lines(of: reason, explanation) + Self.list(of: reason).map { "  \($0)" }
        }
        if !explanation.offers.isEmpty {
            lines.append(explanation.code == .captured ? "Captured:" : "Captured instead:")
            lines += explanation.offers.map { Self.line($0.capture) }
        }
        if !explanation.closest.isEmpty { lines += ["Closest URLs:"] + explanation.closest.map(Self.line) }
        self.lines = lines
    }

    private static func heading(_ explanation: Explanation) -> String {
        let place = explanation.replayable.map { title($0.title) } ?? "your library"
        let url = Terminal.url(explanation.url)
        let codes = Set(explanation.reasons.map(\.code))
        if codes.contains(.captured) { return "\(url) is in \(place)." }
        if codes == [.errorPage] { return "\(url) is in \(place), but only as an error page." }
        return codes.isDisjoint(with: [.redirectLost, .errorPage, .incomplete, .unreadable, .requires])
            ? "\(url) isn't in \(place)."
            : "\(url) is in \(place), but there is no page to show."
    }

    private static func lines(of reason: Explanation.Reason, _ explanation: Explanation) -> [String] {
        let it = explanation.missing.map { "\(Terminal.url($0)) is" } ?? "It's"
        switch reason {
        case .captured(let capture): return ["It was captured on \(day(capture.timestamp))."]
        case .otherArchive(let others):
            return ["\(it) in \(others.total == 1 ? "another archive" : "\(others.total) other archives"):"]
        case .otherForm: return ["\(it) there under another form of the URL."]
        case .otherQuery(let queries): return lines(of: queries, it)
        case .postOnly(let other):
            let methods = Terminal.safe(other.methods.joined(separator: ", "))
            return ["\(it) there only as the answer to a form or a script (\(methods))."]
        case .redirectLost(let lost):
            return [
                lost.endless
                    ? "It redirects without end." : "It redirects to \(Terminal.url(lost.target)), which isn't there."
            ]
        case .errorPage(let capture):
            let status = capture.status.map { " (\($0))" } ?? ""
            return ["The site answered with an error\(status) on \(day(capture.timestamp))."]
        case .incomplete(let found):
            let text =
                "The capture of \(day(found.capture.timestamp)) is incomplete without \(Terminal.safe(found.missing.text))"
            let end = found.archives.isEmpty ? ", which wasn't found in your library." : ". In your library:"
            return [text + end]
        case .unreadable(let found):
            let place = Terminal.safe("\(found.file), byte \(found.offset): \(found.problem)")
            return ["The record of \(day(found.capture.timestamp)) can't be read: \(place)."]
        case .requires: return ["It needs another archive that isn't in your library or can't be read:"]
        case .unavailable: return ["The files of these archives can't be read:"]
        case .crawlFailed(let failure): return [sentence(about: failure, explanation.missing ?? explanation.url)]
        case .linkedFrom(let linking):
            return [linking.total == 1 ? "A captured page uses it:" : "\(linking.total) captured pages use it:"]
        case .siteNotCaptured(let site):
            return [site.host.map { "Nothing from \(Terminal.url($0)) is there." } ?? "It was never captured."]
        case .never(let site):
            guard let host = site.host else { return ["It was never captured."] }
            let count = "\(Terminal.count(site.urls, "URL", "URLs"))\(site.more ? " or more" : "")"
            return [
                "It was never captured. \(count) from \(Terminal.url(host)) \(site.urls == 1 ? "is" : "are") there."
            ]
        }
    }

    private static func lines(of queries: Explanation.OtherQueries, _ it: String) -> [String] {
        let number = "\(queries.total)\(queries.more ? " or more" : "")"
        let isOne = queries.total == 1 && !queries.more
        return ["\(it) there only with \(isOne ? "another query" : "other queries, \(number) of them")."]
            + (queries.fuzzyMatch.map { ["Replay shows \(Terminal.url($0)) instead."] } ?? [])
    }

    private static func sentence(about failure: Explanation.FailedLoad, _ url: String) -> String {
        let cause = failure.error.map { Terminal.quotation($0) } ?? failure.status.map { "status \($0)" }
        let time = failure.timestamp.map { " on \(day($0))" } ?? ""
        let page = failure.page == url ? "" : ", as a part of \(Terminal.url(failure.page))"
        return "The crawler couldn't load it\(time)\(cause.map { " (\($0))" } ?? "")\(page)."
    }

    /// The evidence that is listed below a sentence.
    private static func list(of reason: Explanation.Reason) -> [String] {
        switch reason {
        case .otherArchive(let others):
            let skipped = Terminal.count(others.skipped, "archive wasn't", "archives weren't")
            return others.archives.map(line) + rest(others.total - others.archives.count)
                + (others.skipped > 0 ? ["\(skipped) searched"] : [])
        case .requires(let missing):
            return missing.requires.map { file in
                let hash = file.sha256.map { "SHA-256 \($0)" }
                return [file.filename.map { Terminal.quotation($0) }, hash].compactMap { $0 }.joined(separator: ", ")
            }
        case .incomplete(let found): return found.archives.map(line)
        case .unavailable(let unavailable):
            return unavailable.archives.map { "\($0.archive)  \(title($0.title)), \($0.availability.rawValue)" }
        case .linkedFrom(let linking):
            return linking.pages.map { "\(day($0.timestamp))  \(Terminal.url($0.url))" }
                + rest(linking.total - linking.pages.count)
        default: return []
        }
    }

    private static func title(_ title: String) -> String {
        Terminal.quotation(title, open: "“", close: "”")
    }

    private static func rest(_ count: Int) -> [String] { count > 0 ? ["\(count) more"] : [] }

    private static func line(_ match: Explanation.OtherArchives.Match) -> String {
        let years = match.firstYear == match.lastYear ? "\(match.firstYear)" : "\(match.firstYear)–\(match.lastYear)"
        return
            "\(match.archive)  \(title(match.title)), \(Terminal.count(match.captures, "capture", "captures")), \(years)"
    }

    /// Describes an archive with content that another one lacks.
    static func line(_ holder: PayloadHolder) -> String {
        let match =
            switch holder.match {
            case .digest: "has a capture with the same digest"
            case .capture: "has a capture of that URL and time; there is no digest to compare"
            case .earlier: "has an earlier capture of the URL"
            }
        let name = Terminal.quotation(holder.requiredName ?? "")
        let named =
            switch holder.requiredBytes {
            case .other: "; it has the same name, but other bytes than the required file \(name)"
            case .unknown: "; it has the same name as the required file \(name), whose SHA-256 isn't known"
            case nil: ""
            }
        return "\(holder.archive)  \(title(holder.title)) \(match)\(named)"
    }

    private static func line(_ capture: CaptureSummary) -> String {
        "  \(capture.archiveID.map { "\($0)  " } ?? "")\(capture.timestamp)  \(Terminal.url(capture.request ?? capture.url))"
    }

    private static func day(_ timestamp: String) -> String {
        RFC3339.text(ofTimestamp: timestamp).map { String($0.prefix(10)) } ?? "an unknown day"
    }
}
