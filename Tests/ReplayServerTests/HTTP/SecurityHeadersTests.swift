import Testing

@testable import ReplayServer

struct SecurityHeadersTests {
    private func directives(_ policy: String) -> [String: String] {
        Dictionary(
            policy.split(separator: ";").map { part in
                let words = part.split(separator: " ")
                return (String(words[0]), words.dropFirst().joined(separator: " "))
            }, uniquingKeysWith: { one, _ in one + " (twice)" })
    }

    private let hosts = HostPolicy(port: 8080)

    @Test func libraryRunsOwnScriptsAndFramesReplayOrigins() {
        let policy = directives(SecurityHeaders.controlPage(hosts, at: "http://replayhost.localhost:8080"))
        #expect(policy["default-src"] == "'none'")
        #expect(policy["script-src"] == "'self'")
        #expect(policy["img-src"] == "'self' blob: data: http://*.replayhost.localhost:8080/clear")
        #expect(policy["frame-src"] == "http://*.replayhost.localhost:8080 http://127.0.0.1:8080")
        #expect(policy["frame-ancestors"] == "'none'")
        #expect(policy["base-uri"] == "'none'")
        #expect(policy["form-action"] == "'none'")
        #expect(policy["connect-src"] == "'self' http://replayhost.localhost:8080")
    }

    /// At `localhost` archives use ports: if the browser resolves the names, the library moves there.
    @Test func libraryFramesDependOnOriginMode() {
        func frames(_ origins: HostPolicy.Origins) -> String? {
            let hosts = HostPolicy(port: 8080, origins: origins)
            return directives(SecurityHeaders.controlPage(hosts, at: "http://localhost:8080"))["frame-src"]
        }
        #expect(frames(.ports) == "http://localhost:* http://127.0.0.1:8080")
        #expect(frames(.names) == "http://*.replayhost.localhost:8080 http://127.0.0.1:8080")
        #expect(frames(.auto) == "http://*.replayhost.localhost:8080 http://localhost:* http://127.0.0.1:8080")
    }

    @Test func printPageRunsOneScriptAndLoadsNothing() {
        let policy = directives(SecurityHeaders.printPage(hosts, scriptHash: "S="))
        #expect(policy["sandbox"] == "allow-scripts allow-modals")
        #expect(policy["default-src"] == "'none'")
        #expect(policy["script-src"] == "'sha256-S='")
        #expect(policy["img-src"] == "data:" && policy["font-src"] == "data:")
        #expect(policy["frame-src"] == nil)
        #expect(policy["frame-ancestors"] == "http://localhost:8080 http://replayhost.localhost:8080")
    }

    @Test func pdfDocumentsLoadNothing() {
        let policy = directives(SecurityHeaders.pdf(hosts))
        #expect(policy["default-src"] == "'none'")
        #expect(policy["script-src"] == nil)
        #expect(policy["frame-ancestors"] == "http://localhost:8080 http://replayhost.localhost:8080")
    }

    @Test func bootPageRunsOneScriptAndIsFramedByLibrary() {
        let policy = directives(SecurityHeaders.bootPage(hosts, scriptHash: "S=", styleHash: "T="))
        #expect(policy["default-src"] == "'none'")
        #expect(policy["script-src"] == "'sha256-S='")
        #expect(policy["style-src"] == "'sha256-T='")
        #expect(policy["worker-src"] == "'self'")
        #expect(policy["frame-ancestors"] == "'self' http://localhost:8080 http://replayhost.localhost:8080")
    }

    @Test(arguments: [SecurityHeaders.engine, SecurityHeaders.inert, SecurityHeaders.stockPage])
    func otherPoliciesLoadNothingExternal(policy: String) {
        let directives = directives(policy)
        #expect(directives["default-src"] == "'none'")
        for (name, value) in directives {
            #expect(!value.contains("*") && !value.contains("http") && !value.contains("twice"), "\(name) \(value)")
        }
    }
}
