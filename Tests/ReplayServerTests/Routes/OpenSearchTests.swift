import Foundation
import TestSupport
import Testing

/// The description for browsers, and what its templates lead to. OpenSearch 1.1 Draft 6.
struct OpenSearchTests {
    @Test(arguments: ["localhost", "replayhost.localhost"])
    func templatesHaveTheOriginOfTheRequest(name: String) async throws {
        try await withServer { server in
            let origin = "http://\(name):\(server.port)"
            let answer = try await server.ask("GET", "/opensearch.xml", host: "\(name):\(server.port)")
            #expect(answer.text.hasPrefix("<?xml version=\"1.0\""))
            #expect(
                answer.text.contains("<OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\">"))
            // 16 characters at most, and no markup.
            #expect(answer.text.contains("<ShortName>replayhost</ShortName>"))
            #expect(
                Self.templates(answer.text) == [
                    "text/html": "\(origin)/search?q={searchTerms}",
                    "application/x-suggestions+json": "\(origin)/search/suggestions?q={searchTerms}",
                    "application/opensearchdescription+xml": "\(origin)/opensearch.xml",
                ])
        }
    }

    private static func templates(_ xml: String) -> [String: String] {
        Dictionary(
            xml.matches(of: /<Url type="([^"]*)"(?: rel="self")? template="([^"]*)"\/>/)
                .map { (String($0.1), String($0.2)) }
        ) { $1 }
    }

    /// As browsers write it: Chromium writes a space as `+`, Firefox as `%20`.
    @Test(arguments: [
        ("q=coral+reef", "coral%20reef"), ("q=coral%20reef", "coral%20reef"), ("q=a%2Bb", "a%2Bb"),
        ("q=caf%C3%A9", "caf%C3%A9"), ("q=%22a%26b%22%23%25", "%22a%26b%22%23%25"), ("q=", ""), ("", ""),
        ("x=1&q=a&in=b", "a"), ("q=%ff", ""), ("q=a%0d%0aSet-Cookie:b", "a%0D%0ASet-Cookie%3Ab"),
    ])
    func searchLeadsToTheResults(query: String, fragment: String) async throws {
        try await withServer { server in
            let answer = try await server.ask("GET", "/search?\(query)")
            #expect(answer.status == 307)
            #expect(answer["location"] == "/#search=\(fragment)")
            #expect(answer["set-cookie"] == nil)
        }
    }

    @Test func suggestionsRepeatTheWords() async throws {
        try await withServer(
            prepare: { store, _ in _ = try store.importFile(at: Checkout.fixture("sample.wacz")) }
        ) { server in
            let answer = try await server.ask("GET", "/search/suggestions?q=tidepool+field")
            let parts = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [Any])
            #expect(parts.count == 2)
            #expect(parts.first as? String == "tidepool field")
            // The title of the archive, which is known before its text is indexed.
            #expect((parts.last as? [String])?.first == "Tidepool Field Guide")
            for site in ["cross-site", "same-site"] {
                let other = try await server.ask("GET", "/search/suggestions?q=tide", [("Sec-Fetch-Site", site)])
                #expect(other.status == 403)
            }
        }
    }
}
