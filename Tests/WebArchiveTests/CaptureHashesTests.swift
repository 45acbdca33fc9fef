import Foundation
import TestSupport
import Testing

@testable import WebArchive

/// What is known of an archive without opening it never hides a capture.
struct CaptureHashesTests {
    /// URLs with different keys in different tools, and the keys (`Fixtures/url-keys.tsv`).
    private static func rows() throws -> [(url: String, keys: [String])] {
        try String(contentsOfFile: Checkout.fixture("url-keys.tsv"), encoding: .utf8).split(separator: "\n").dropFirst()
            .map { line in
                let cells = line.split(separator: "\t").map(String.init)
                return (cells[0], Array(cells.dropFirst()))
            }
    }

    /// Other spellings of a URL, some of which identify the same page.
    private static func spellings(of url: String) -> [String] {
        guard let end = url.range(of: "://")?.upperBound else { return [url, url + "#part"] }
        let rest = url[end...]
        let (host, path) = (rest.prefix { $0 != "/" && $0 != "?" }, rest.drop { $0 != "/" && $0 != "?" })
        return [
            url, "http://\(rest)", "https://\(rest)", "HTTP://\(host.uppercased())\(path)", "http://www.\(rest)",
            "http://www7.\(rest)", "http://user:pass@\(rest)", "http://\(host):80\(path)", "http://\(host):8080\(path)",
            "\(url)/", "\(url)?", "\(url)#part", "\(url)?b=2&a=1", "\(url)?a=1&b=2", url.uppercased(),
            url.replacingOccurrences(of: "%C3%BC", with: "ü"), url.removingPercentEncoding ?? url,
            "\(url)?__wb_method=POST&q=one",
        ]
    }

    private static func hashes(_ entry: CDXJEntry) -> Set<UInt32> {
        var hashes = CaptureHashes(countMax: 100)
        let isComplete = hashes.add(entry)
        #expect(isComplete)
        return Set(hashes.sorted())
    }

    private static func entry(_ url: String, key: String, method: String? = nil) -> CDXJEntry {
        CDXJEntry(
            urlKey: key, timestamp: "20240101000000", url: url, filename: "a.warc.gz", offset: 0, length: 1,
            method: method, requestBody: method == nil ? nil : "q=one")
    }

    /// Each row's entries for the spellings of its URL, and for those of every fifth other row, or with `CASES=all` of all.
    @Test func everyAcceptedEntrySharesAHash() throws {
        let rows = try Self.rows()
        let questions = rows.enumerated().flatMap { number, row in
            Self.spellings(of: row.url).map { url -> (row: Int, matcher: CaptureMatcher, hashes: Set<UInt32>) in
                let matcher = CaptureMatcher(url: url)
                return (number, matcher, Set(matcher.hashes))
            }
        }
        var accepted = 0
        for (number, row) in rows.enumerated() {
            let asked = questions.filter { Cases.areAll || ($0.row - number).isMultiple(of: 5) }
            let posted = "\(row.url)\(row.url.contains("?") ? "&" : "?")__wb_method=POST&q=one"
            let entries =
                Set(row.keys + SURT.candidates(for: row.url) + [row.url]).map { Self.entry(row.url, key: $0) }
                + Self.spellings(of: row.url).map { Self.entry($0, key: SURT.key(for: $0)) }
                + [
                    Self.entry(row.url, key: SURT.key(for: posted), method: "POST"),
                    Self.entry(row.url, key: posted, method: "POST"),
                ]
            for entry in entries {
                let own = Self.hashes(entry)
                for question in asked where question.matcher.accepts(entry) {
                    accepted += 1
                    let place = Comment(rawValue: "\(entry.url) \(entry.urlKey) for \(question.matcher.url)")
                    #expect(!own.isDisjoint(with: question.hashes), place)
                }
            }
        }
        #expect(accepted > (Cases.areAll ? 10_000 : 1000))
    }

    /// URLs that rules of the engine and similar arguments make substitutes for each other, and others.
    @Test(.enabled(if: Libraries.haveRE2, "the rules are regular expressions"))
    func everyCandidateSharesAHash() throws {
        let urls = [
            "https://a.example/x.js?v=1", "https://a.example/x.js", "http://www.a.example/x.js?v=2#top",
            "https://a.example/x.js?__wb_method=POST&v=1", "https://A.example:443/x.js?v=9",
            "https://b.example/x.js?v=1",
            "https://a.example/list?page=3&sort=up", "https://a.example/list/?page=4&sort=up", "https://a.example/list",
            "https://r1---sn-a.googlevideo.com/videoplayback?id=7&itag=22&sig=x",
            "https://r5---sn-b.googlevideo.com/videoplayback?sig=y&itag=22&id=7",
            "https://www.youtube.com/embed/abc?autoplay=1", "https://www.youtube.com/embed/abc",
            "https://vod-progressive.akamaized.net/exp=1~hmac=2/vimeo/01/2/3.mp4",
            "https://gcs-vimeo.akamaized.net/exp=9/other/01/2/3.mp4",
            "https://static.wixstatic.com/media/a.png/v1/fill/w_300,h_200/a.png",
            "https://static.wixstatic.com/media/a.png/v1/fill/w_600,h_400/a.png",
            "https://pbs.twimg.com/profile_images/1/AbC_normal.jpg",
            "https://pbs.twimg.com/profile_images/1/AbC_bigger.jpg",
            "https://www.facebook.com/ajax/pagelet/generic.php/photoviewerinitpagelet?data=1&__a=1",
            "https://www.facebook.com/ajax/pagelet/generic.php/photoviewerinitpagelet?data=1&__a=2",
            "https://bücher.example/ä?x=1", "https://xn--bcher-kva.example/ä?x=2", "urn:text:https://a.example/?x=1",
        ]
        var found = 0
        for question in urls {
            guard let match = FuzzyMatch(question) else { continue }
            for url in urls where match.score(url) != nil {
                found += 1
                let method: String? = url.contains("__wb_method") ? "POST" : nil
                let plain = method == nil ? url : "https://a.example/x.js?v=1"
                for key in SURT.candidates(for: url) {
                    let own = Self.hashes(Self.entry(plain, key: key, method: method))
                    #expect(match.hashes.map { !own.isDisjoint(with: $0) } ?? true, "\(url) for \(question)")
                }
            }
        }
        #expect(found > 40)
    }

    @Test func hashesAreSortedAndEachOnce() {
        var hashes = CaptureHashes(countMax: 3)
        for _ in 0..<3 {
            for host in ["a", "b"] {
                _ = hashes.add(Self.entry("http://\(host).example/", key: "example,\(host))/"))
            }
        }
        let sorted = hashes.sorted()
        #expect(sorted == Set(sorted).sorted())
        // Two keys, two hosts, and the domain above both.
        #expect(sorted.count == 5)
        let another = hashes.add(Self.entry("http://c.example/", key: "example,c)/"))
        #expect(!another)
    }
}
