/// The number of captures of a URL on each day, counted in one pass.
///
/// Memory use depends only on the number of different days.
package struct CaptureHistogram: Sendable {
    /// The length of a period.
    package enum Period: String, Sendable, Hashable, Codable, CaseIterable {
        case day, month, year

        /// The number of characters of an RFC 3339 date that name the period.
        fileprivate var length: Int {
            switch self {
            case .day: 10
            case .month: 7
            case .year: 4
            }
        }
    }

    /// The number of all captures.
    package private(set) var total = 0
    /// The number of captures by day, counted from 1970-01-01.
    private var days: [Int64: Int] = [:]

    package init() {}

    mutating func add(_ time: CaptureTimestamp) {
        total += 1
        days[time.millisecondsSince1970.floored(by: Self.dayMilliseconds).0, default: 0] += 1
    }

    /// Returns the periods that have captures, in order: `2024-05-03`, `2024-05` or `2024`, in UTC.
    package func counts(by period: Period) -> [(period: String, captures: Int)] {
        var counts: [(period: String, captures: Int)] = []
        for (day, captures) in days.sorted(by: { $0.key < $1.key }) {
            let time = CaptureTimestamp(millisecondsSince1970: day * Self.dayMilliseconds)
            let name = String((time?.rfc3339 ?? "").prefix(period.length))
            if let last = counts.last, last.period == name {
                counts[counts.count - 1].captures += captures
            } else {
                counts.append((name, captures))
            }
        }
        return counts
    }

    private static let dayMilliseconds: Int64 = 86_400_000
}

extension WACZFile {
    /// Adds all captures of a URL to a histogram, including those of other request methods.
    ///
    /// - Parameter distinct: As in `addCaptures(matching:of:to:except:_:)`.
    /// - Throws: `io`, `cancelled`; `tooLarge` if an index exceeds its limits.
    package func addCaptures(
        matching matcher: CaptureMatcher, to histogram: inout CaptureHistogram,
        except distinct: DistinctCaptures? = nil, _ check: CancellationCheck
    ) throws(WebArchiveError) {
        if distinct == nil, let times = try captureTimes(matching: matcher, check) {
            for time in times.all { histogram.add(time) }
            return
        }
        let search = CaptureSearch(wacz: self, matcher: matcher, includesMethods: true, check: check)
        histogram = try search.gather(into: histogram) { found, line in
            guard let time = line.captureTime, matches(line, matcher) else { return }
            if let distinct {
                guard let entry = CDXJEntry.parsed(line.bytes, limits: limits), distinct.insert(entry) else { return }
            }
            found.add(time)
        } entry: { found, entry in
            guard let time = entry.captureTime, matcher.accepts(entry), distinct?.insert(entry) ?? true else { return }
            found.add(time)
        }
    }
}
