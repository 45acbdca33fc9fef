import Crypto
import Testing

@testable import WebArchive

/// Results of pywb 2.10.0 for the index of `ours/small-plain.wacz`, with
/// `output=text&fl=urlkey,timestamp,url,mime,status,digest,length,offset,filename`: lines, and SHA-256 of the text.
struct CDXQueryReferenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let query: String
        let lines: Int
        let hash: String
        var testDescription: String { query }

        init(_ query: String, _ lines: Int, _ hash: String) {
            (self.query, self.lines, self.hash) = (query, lines, hash)
        }
    }

    static let cases = [
        Case("url=http://edge.test/", 9, "43c8e61527c9774a"),
        Case("url=https://www.edge.test", 9, "43c8e61527c9774a"),
        Case("url=edge.test/", 9, "43c8e61527c9774a"),
        Case("url=http://edge.test/*", 123, "efff20faabd72e44"),
        Case("url=*.edge.test", 123, "efff20faabd72e44"),
        Case("url=*.test", 166, "7a073136263370ab"),
        Case("url=http://docs.python.org/&matchType=host", 0, "e3b0c44298fc1c14"),
        Case("url=http://python.org/&matchType=domain", 0, "e3b0c44298fc1c14"),
        Case("url=docs.python.org/3/*", 0, "e3b0c44298fc1c14"),
        Case("url=http://edge.test/q*", 7, "dc1fd2e175fc1af8"),
        Case("url=http://edge.test/q?*", 7, "dc1fd2e175fc1af8"),
        Case("url=http://edge.test/q%3Fb%3D2%26a%3D1", 5, "7eb62a855706c8a6"),
        Case("url=urn:pageinfo:http://edge.test/", 1, "43414eb5a9eabfa3"),
        Case("url=urn:pageinfo:*", 1, "43414eb5a9eabfa3"),
        Case("url=*.test&limit=7", 7, "93ddb962b5dc0097"),
        Case("url=*.test&sort=reverse", 166, "6a4a7d780565c9b7"),
        Case("url=*.test&sort=reverse&limit=5", 5, "5e5bff3c49064e7f"),
        Case("url=*.test&reverse=1&limit=1", 1, "d167a77633892cf5"),
        Case("url=*.test&filter=mime:json", 12, "0eed55d12f1873ae"),
        Case("url=*.test&filter=!mime:html", 66, "73b70091fdb4b59c"),
        Case("url=*.test&filter==mime:text/html&filter=status:200", 93, "eed02e322c00f66a"),
        Case("url=*.test&filter=!=status:200", 20, "07d93d3078eaba07"),
        Case("url=*.test&filter=~status:[345]", 15, "d6a1425aaf47d565"),
        Case("url=*.test&filter=!~url:.*(gz|q)", 151, "e2ccc9023f444b2f"),
        Case("url=*.test&filter=~url:gz", 0, "e3b0c44298fc1c14"),
        Case("url=*.test&filter=statuscode:404", 3, "44d839103ecaad03"),
        Case("url=*.test&filter==mimetype:warc/revisit", 5, "ab28154ab852818f"),
        Case("url=*.test&filter=s:12", 12, "3c5a960e8f85ed46"),
        Case("url=*.test&filter=~l:^1...$", 18, "e661a2b9c6abf141"),
        Case("url=*.test&filter=range", 4, "aa7461ddfe65a6cd"),
        Case("url=*.test&filter=nothing:x", 0, "e3b0c44298fc1c14"),
        Case("url=*.test&filter=!nothing:x", 166, "7a073136263370ab"),
        Case("url=*.test&filter==nothing:", 166, "7a073136263370ab"),
        Case("url=*.test&from=2026", 166, "7a073136263370ab"),
        Case("url=*.test&from=20261120232736", 136, "ed7e90a68616426d"),
        Case("url=*.test&to=20261120232735", 30, "efcc9ceec0489b81"),
        Case("url=*.test&from=202611202327&to=202611202328", 73, "ff1235ca46b0216f"),
        Case("url=*.test&from_ts=2026112023274", 93, "c099636618ccee2c"),
        Case("url=*.test&to=2025", 0, "e3b0c44298fc1c14"),
        Case("url=*.test&collapseTime=10", 22, "ab2727ad676bdfa3"),
        Case("url=*.test&collapseTime=4&filter=!status:200", 15, "02581bcdefbb6049"),
        Case("url=http://edge.test/nowhere", 0, "e3b0c44298fc1c14"),
        Case("url=http://edge.test/q%3Fb%3D2%26a%3D1", 5, "7eb62a855706c8a6"),
    ]

    /// The same captures with seven index layouts.
    static let layouts =
        ["plain", "deflate", "gz", "zipnum", "cdxj", "1.2.0"].map { "small-\($0).wacz" } + ["small.wacz"]

    @Test(.enabled(if: fixtures != nil), arguments: cases.filter { Libraries.haveWhatIsNeeded(for: $0.query) })
    func resultsMatchPywbInEveryLayout(_ c: Case) throws {
        let folder = try #require(fixtures)
        for layout in Self.layouts {
            let wacz = try WACZFile.open(path: "\(folder)/ours/\(layout)")
            let columns = "&output=text&fl=urlkey,timestamp,url,mime,status,digest,length,offset,filename"
            let text = try CDXQueries.text(CDXQueries.run(c.query + columns, [("a", wacz)]))
            #expect(text.split(separator: "\n").count == c.lines, "\(layout)")
            let digest = SHA256.hash(data: Array(text.utf8)).prefix(8)
            let hash = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(hash == c.hash, "\(layout)")
        }
    }

    @Test(
        .enabled(if: fixtures != nil),
        arguments: [
            "url=*.test", "url=*.test&output=json", "url=*.test&output=text", "url=*.test&output=link",
            "url=*.test&sort=reverse", "url=*.test&closest=20261120232735", "url=*.test&showNumPages=true",
            "url=*.test&collapse=digest&collapse=timestamp:12", "url=*.test&page=0&pageSize=1",
            "url=*.test&output=json&fl=url",
        ])
    func allLayoutsGiveTheSameResult(_ query: String) throws {
        let folder = try #require(fixtures)
        var answers: Set<String> = []
        for layout in Self.layouts {
            let wacz = try WACZFile.open(path: "\(folder)/ours/\(layout)")
            answers.insert(try CDXQueries.text(CDXQueries.run(query, [("a", wacz)])))
        }
        #expect(answers.count == 1)
        #expect(answers.first?.isEmpty == false)
    }
}
