/// Something wrong or odd in an archive that does not stop it from being read.
public struct Finding: Sendable, Hashable, Codable {
    /// How bad it is for replay.
    public enum Severity: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
        /// Nothing is lost.
        case notice
        /// Something may be missing, or may look different.
        case warning
        /// Archived content certainly cannot be replayed.
        case error

        private var rank: Int {
            switch self {
            case .notice: 0
            case .warning: 1
            case .error: 2
            }
        }

        /// Orders notices before warnings before errors.
        public static func < (lhs: Severity, rhs: Severity) -> Bool { lhs.rank < rhs.rank }
    }

    /// How bad it is for replay.
    public let severity: Severity
    /// Stable name of the kind of finding, for example `index-unsorted`.
    public let code: String
    /// What is wrong, as a sentence for people.
    public let what: String
    /// Where in the package, for example `indexes/index.cdx line 12`.
    public let location: String
    /// What it means for replay.
    public let consequence: String

    /// Makes a finding; see the properties for what each text holds.
    public init(severity: Severity, code: String, what: String, location: String, consequence: String) {
        self.severity = severity
        self.code = code
        self.what = what
        self.location = location
        self.consequence = consequence
    }
}

extension Finding {
    /// The same, with texts that a hostile file made long cut off.
    fileprivate var bounded: Finding {
        func bounded(_ text: String) -> String {
            text.utf8.count > 2000 ? text.prefix(400) + "…" : text
        }
        return Finding(
            severity: severity, code: code, what: bounded(what), location: bounded(location), consequence: consequence)
    }
}

/// Collects findings and keeps only the first few of each code, so that a damaged index cannot fill the memory.
struct FindingLog: Sendable {
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
        _ severity: Finding.Severity, _ code: String, _ what: String, at location: String, consequence: String
    ) {
        add(Finding(severity: severity, code: code, what: what, location: location, consequence: consequence))
    }

    /// Every kept finding, and for each code that was cut off one that says how many more there were.
    var findings: [Finding] {
        var all = kept
        for (code, count) in counts.sorted(by: { $0.key < $1.key }) where count > perCodeMax {
            guard let example = kept.first(where: { $0.code == code }) else { continue }
            all.append(
                Finding(
                    severity: example.severity, code: code,
                    what: "\(count - perCodeMax) more of the same kind; \(count) in all.",
                    location: "\(example.location) and others", consequence: example.consequence))
        }
        return all
    }
}
