/// A problem in an archive that doesn't prevent reading it.
public struct Finding: Sendable, Hashable, Codable {
    /// The effect of a finding on replay.
    public enum Severity: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
        /// Replay isn't affected.
        case notice
        /// Content may be missing or look different.
        case warning
        /// Some content can't be replayed.
        case error

        private var rank: Int {
            switch self {
            case .notice: 0
            case .warning: 1
            case .error: 2
            }
        }

        /// Returns whether the first severity is lower. Notices are lower than warnings, and warnings than errors.
        public static func < (lhs: Severity, rhs: Severity) -> Bool { lhs.rank < rhs.rank }
    }

    /// The effect of a finding on replay.
    public let severity: Severity
    /// The kind of finding, for example `index-unsorted`. Codes are stable.
    public let code: String
    /// A sentence that describes the problem.
    public let what: String
    /// The location in the archive, for example `indexes/index.cdx line 12`.
    public let location: String
    /// A sentence that describes the effect on replay.
    public let consequence: String
    /// The URLs of captures or pages that the finding is about: the first few, none of them cut.
    public let urls: [String]?
    /// The number of these captures or pages, if it's more than `urls` has.
    public let urlCount: Int?
    /// The number of findings with this code, if this one stands for those that aren't listed.
    public let total: Int?

    /// Creates a finding.
    ///
    /// - Parameters:
    ///   - urls: URLs that the finding is about. Very long ones are only counted.
    ///   - urlCount: Their number, if `urls` has only the first.
    ///   - total: See `total`.
    public init(
        severity: Severity, code: String, what: String, location: String, consequence: String, urls: [String] = [],
        urlCount: Int = 0, total: Int? = nil
    ) {
        self.severity = severity
        self.code = code
        self.what = what
        self.location = location
        self.consequence = consequence
        self.total = total
        let kept = urls.filter { $0.utf8.count <= Self.urlBytesMax }
        self.urls = kept.isEmpty ? nil : kept
        let count = max(urlCount, urls.count)
        self.urlCount = count > kept.count ? count : nil
    }

    /// The longest URL that a finding lists, in bytes.
    static let urlBytesMax = 1000
}

extension Finding {
    /// Returns the finding with another severity or other texts.
    func with(
        severity: Severity? = nil, what: String? = nil, location: String? = nil, consequence: String? = nil
    ) -> Finding {
        Finding(
            severity: severity ?? self.severity, code: code, what: what ?? self.what,
            location: location ?? self.location, consequence: consequence ?? self.consequence, urls: urls ?? [],
            urlCount: urlCount ?? 0, total: total)
    }

    /// The finding with its texts shortened, as a hostile file can make them arbitrarily long.
    fileprivate var bounded: Finding {
        func bounded(_ text: String) -> String {
            text.utf8.count > 2000 ? String(decoding: text.utf8.prefix(400), as: UTF8.self) + "…" : text
        }
        return with(what: bounded(what), location: bounded(location))
    }
}

/// Collects findings. Keeps only the first few of each code, so that a damaged index can't exhaust memory.
struct FindingLog: Sendable, Hashable, Codable {
    private let perCodeMax: Int
    private var kept: [Finding] = []
    private var counts: [String: Int] = [:]

    init(perCodeMax: Int) {
        self.perCodeMax = perCodeMax
    }

    mutating func add(_ finding: Finding) {
        let seen = counts[finding.code, default: 0]
        counts[finding.code] = seen + 1
        if seen < perCodeMax { kept.append(finding.bounded) }
    }

    mutating func add(
        _ severity: Finding.Severity, _ code: String, _ what: String, at location: String, consequence: String,
        urls: [String] = [], urlCount: Int = 0
    ) {
        add(
            Finding(
                severity: severity, code: code, what: what, location: location, consequence: consequence, urls: urls,
                urlCount: urlCount))
    }

    /// Adds a finding that is only made if it's kept.
    mutating func add(_ code: String, _ make: () -> Finding) {
        if counts[code, default: 0] < perCodeMax { add(make()) } else { counts[code, default: 0] += 1 }
    }

    /// Adds the findings of another log, and those that it only counted.
    mutating func add(_ other: FindingLog) {
        for finding in other.kept { add(finding) }
        for (code, count) in other.counts where count > other.perCodeMax {
            counts[code, default: 0] += count - other.perCodeMax
        }
    }

    /// Counts more findings of a code, of which some were added already.
    mutating func count(_ code: String, more: Int) { counts[code, default: 0] += more }

    /// Returns the log without the findings of a code.
    func without(_ code: String) -> FindingLog {
        var log = self
        log.kept.removeAll { $0.code == code }
        log.counts[code] = nil
        return log
    }

    /// Removes all findings, and returns them.
    mutating func taken() -> FindingLog {
        defer { self = FindingLog(perCodeMax: perCodeMax) }
        return self
    }

    /// Returns the log with other locations.
    func located(_ location: (String) -> String) -> FindingLog { mapped { $0.with(location: location($0.location)) } }

    /// Returns the log with other texts.
    func mapped(_ finding: (Finding) -> Finding) -> FindingLog {
        var log = self
        log.kept = kept.map(finding)
        return log
    }

    /// The findings kept, and for each code with more, a finding with their number.
    var findings: [Finding] {
        var all = kept
        for (code, count) in counts.sorted(by: { $0.key < $1.key }) where count > perCodeMax {
            guard let example = kept.first(where: { $0.code == code }) else { continue }
            all.append(
                Finding(
                    severity: example.severity, code: code,
                    what:
                        "\(count - perCodeMax) more \(count == perCodeMax + 1 ? "issue" : "issues") of this kind, \(count) in total.",
                    location: "\(example.location) and others", consequence: example.consequence, total: count))
        }
        return all
    }
}
