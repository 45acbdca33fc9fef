import ArchiveStore

/// An explanation as text: the reasons, then the captures that can be opened instead.
struct ExplanationText {
    let lines: [String]
    private let explanation: Explanation

    init(_ explanation: Explanation) {
        self.explanation = explanation
        var lines = [Self.heading(explanation)]
        lines += explanation.reasons.flatMap { Self.sentences($0, explanation) }
        if !explanation.offers.isEmpty {
            lines += [explanation.code == .captured ? "Captured:" : "Captured instead:"]
            lines += explanation.offers.map { Self.line($0.capture) }
        }
        if !explanation.closest.isEmpty {
            lines += ["Closest URLs:"] + explanation.closest.map(Self.line)
        }
        self.lines = lines
    }

    private static func heading(_ explanation: Explanation) -> String {
        let place = explanation.replayable.map { "“\($0.title)”" } ?? "your library"
        switch explanation.reasons.last {
        case .captured: return "\(explanation.url) is in \(place)."
        default:
            let isThere = explanation.reasons.contains {
                [.redirectLost, .errorPage, .unreadable, .requires].contains($0.code)
            }
            return isThere
                ? "\(explanation.url) is in \(place), but can't be shown as it was."
                : "\(explanation.url) isn't in \(place)."
        }
    }

    private static func sentences(_ reason: Explanation.Reason, _ explanation: Explanation) -> [String] {
        let it = explanation.missing ?? "It"
        switch reason {
        case .captured(let capture):
            return ["It was captured on \(day(capture.timestamp))."]
        case .otherArchive(let others):
            let count = Terminal.count(others.total, "another archive", "other archives")
            let named = others.archives.map { archive in
                let years =
                    archive.firstYear == archive.lastYear
                    ? "\(archive.firstYear)" : "\(archive.firstYear)–\(archive.lastYear)"
                return
                    "  \(archive.archive)  “\(archive.title)”, \(Terminal.count(archive.captures, "capture", "captures")), \(years)"
            }
            let more = others.total - others.archives.count
            return ["\(it) is in \(others.total == 1 ? "another archive" : count):"] + named
                + (more > 0 ? ["  and \(more) more"] : [])
                + (others.skipped > 0
                    ? ["  Not searched: \(Terminal.count(others.skipped, "archive", "archives"))."] : [])
        case .otherForm: return ["Only another form of the URL was captured."]
        case .otherQuery(let queries):
            let number = "\(queries.total)\(queries.more ? " or more" : "")"
            let shown = queries.fuzzyMatch.map { ["Replay shows \($0) instead."] } ?? []
            return [
                queries.total == 1 && !queries.more
                    ? "It was captured only with another query."
                    : "It was captured only with other queries, \(number) of them."
            ] + shown
        case .postOnly(let other):
            return [
                "It was captured only as the answer to a form or a script (\(other.methods.joined(separator: ", ")))."
            ]
        case .redirectLost(let lost):
            return [
                lost.endless
                    ? "It redirects without end." : "It redirects to \(lost.target), which can't be shown."
            ]
        case .errorPage(let capture):
            return [
                "The site answered with an error\(capture.status.map { " (\($0))" } ?? "") on \(day(capture.timestamp))."
            ]
        case .unreadable(let capture):
            return [
                "The index lists it, but its record can't be read: \(capture.file), byte \(capture.offset): \(capture.problem)."
            ]
        case .requires(let missing):
            let names = missing.requires.map { requirement in
                [requirement.filename, requirement.sha256.map { "SHA-256 \($0)" }].compactMap { $0 }
                    .joined(separator: ", ")
            }
            return ["Its content is in another archive, which isn't in your library or can't be read:"]
                + names.map { "  \($0)" }
        case .unavailable(let unavailable):
            return ["These archives can't be searched:"]
                + unavailable.archives.map { "  \($0.archive)  “\($0.title)”, file \($0.availability.rawValue)" }
        case .crawlFailed(let failure):
            let why = failure.error ?? failure.status.map { "status \($0)" }
            return [
                "The crawler couldn't load it\(why.map { " (\($0))" } ?? "")"
                    + (failure.timestamp.map { " on \(day($0))" } ?? "")
                    + (failure.page == explanation.url ? "." : ", as part of \(failure.page).")
            ]
        case .linkedFrom(let linking):
            let more = linking.total - linking.pages.count
            return ["These captured pages use it:"] + linking.pages.map { "  \(day($0.timestamp))  \($0.url)" }
                + (more > 0 ? ["  and \(more) more"] : [])
        case .siteNotCaptured(let site):
            return [site.host.map { "Nothing from \($0) was captured." } ?? "It was never captured."]
        case .never(let site):
            let number = site.more ? "\(site.urls) or more URLs" : Terminal.count(site.urls, "URL", "URLs")
            return ["It was never captured. \(number) of \(site.host ?? "its site") are there."]
        }
    }

    private static func line(_ capture: CaptureSummary) -> String {
        let method = capture.request == nil ? "" : "  (not a GET request)"
        return "  \(capture.archiveID.map { "\($0)" } ?? "")  \(capture.timestamp)  \(capture.url)\(method)"
    }

    private static func day(_ timestamp: String) -> String {
        RFC3339.text(ofTimestamp: timestamp).map { String($0.prefix(10)) } ?? "an unknown day"
    }
}
