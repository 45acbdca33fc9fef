import ArchiveStore
import CaptureTLS
import Foundation
import TestSupport
import Testing

/// Certificates of the person's own, made with OpenSSL.
@Suite(.enabled(if: openSSL != nil, "openssl isn't installed"))
struct CertificateFilesTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var files: CertificateFiles {
        CertificateFiles(certificatePath: folder.path("a.crt"), keyPath: folder.path("a.key"))
    }

    /// Makes a certificate that is valid from now for 30 days.
    private func make(_ name: String = "a", key: String = "ec", options: [String] = []) async throws {
        let kind = key == "ec" ? ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] : [key]
        let result = try await run(
            openSSL ?? "openssl",
            ["req", "-x509", "-newkey"] + kind + [
                "-nodes", "-days", "30", "-subj", "/CN=\(name)", "-keyout", "\(name).key",
            ]
                + ["-addext", "subjectAltName=DNS:\(name).example", "-out", "\(name).crt"] + options,
            folder: folder.path)
        try #require(result.code == 0, "\(result.errors)")
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try contents(of: folder.path(name)), as: UTF8.self)
    }

    private func failure(_ now: Date = Date()) throws -> StoreError {
        try #require(throws: StoreError.self) { try TLSContext(.files(files), now: now) }
    }

    @Test(arguments: ["ec", "rsa:2048", "rsa:4096"])
    func commonKeysAreAccepted(kind: String) async throws {
        try await make(key: kind)
        let context = try TLSContext(.files(files), now: Date())
        #expect(context.fingerprint == nil && context.rootPEM == nil)
        #expect(context.warnings(now: Date()) == [])
    }

    /// Forms in which other programs write keys and chains.
    @Test func textAroundTheParts() async throws {
        try await make()
        try await make("b")
        let key = try await run(openSSL ?? "openssl", ["ec", "-in", folder.path("a.key")])
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        try folder.write(parameters + key.output, to: "a.key")
        let lines = "subject=CN = a\n\n" + (try text("a.crt")) + "\n# issuer\n" + (try text("b.crt"))
        try folder.write(lines.replacingOccurrences(of: "\n", with: "\r\n"), to: "a.crt")
        _ = try TLSContext(.files(files), now: Date())
    }

    @Test func missingAndUnusableFiles() async throws {
        #expect(try failure().description.hasPrefix("\(folder.path("a.crt")): there is no such file; "))
        try await make()
        try FileManager.default.removeItem(atPath: folder.path("a.key"))
        #expect(try failure().place == folder.path("a.key"))
        try FileManager.default.createDirectory(atPath: folder.path("a.key"), withIntermediateDirectories: false)
        #expect(try failure().what == "this isn't a file")
        try FileManager.default.removeItem(atPath: folder.path("a.key"))
        try folder.write([UInt8](repeating: 65, count: 1 << 21), to: "a.key")
        #expect(try failure().what.hasPrefix("this file is larger than 1024 KiB"))
    }

    @Test func wrongContents() async throws {
        try await make()
        try await make("b")
        let (certificate, key) = (try text("a.crt"), try text("a.key"))
        try folder.write([0x30, 0x82, 0x01, 0x02], to: "a.crt")
        #expect(try failure().what.hasPrefix("this file isn't in PEM format"))
        try folder.write(key, to: "a.crt")
        #expect(try failure().what == "this file has no certificate")
        try folder.write(certificate, to: "a.crt")
        try folder.write(certificate, to: "a.key")
        #expect(try failure().what == "this file has no private key")
        try folder.write(try text("b.key"), to: "a.key")
        #expect(
            try failure().what == "this private key doesn't belong to the first certificate in \(files.certificatePath)"
        )
        #expect(try failure().hint == "use the key that the certificate was made for")
        try folder.write(certificate + (try text("b.crt")), to: "a.crt")
        #expect(try failure().hint?.hasPrefix("put the server's certificate first") == true)
    }

    @Test func keysThatAreNotSupported() async throws {
        try await make()
        let locked = try await run(
            openSSL ?? "openssl", ["pkey", "-in", folder.path("a.key"), "-aes256", "-passout", "pass:secret"])
        try folder.write(locked.output, to: "a.key")
        #expect(try failure().what == "this private key needs a password")
        try await make(key: "rsa:1024")
        #expect(try failure().hint == "use RSA with at least 2,048 bits, or ECDSA with P-256, P-384 or P-521")
        try await make(key: "ed25519")
        #expect(try failure().what.hasPrefix("this kind of private key isn't supported"))
    }

    @Test func expiredOrSoonExpired() async throws {
        try await make()
        #expect(try failure(Date() + days(31)).what.hasPrefix("this certificate has expired on "))
        #expect(try failure(Date() - days(2)).what.hasPrefix("this certificate is valid from "))
        let context = try TLSContext(.files(files), now: Date())
        #expect(context.warnings(now: Date() + days(15)) == [])
        let warnings = context.warnings(now: Date() + days(17)).map(\.what)
        #expect(warnings.count == 1 && warnings[0].contains("this certificate expires on "))
    }

    @Test func filesAreReadAgainWhenTheyChange() async throws {
        try await make()
        let context = try TLSContext(.files(files), now: Date())
        #expect(context.refresh(.files(files), now: Date()) == .unchanged)
        let certificate = try text("a.crt")
        let end = context.endsAt
        try folder.write("x", to: "a.crt")
        guard case .failed(let error) = context.refresh(.files(files), now: Date()) else {
            Issue.record("the damaged file isn't reported")
            return
        }
        #expect(error.what.hasPrefix("this file isn't in PEM format"))
        // Once for each change.
        #expect(context.refresh(.files(files), now: Date()) == .unchanged)
        #expect(context.endsAt == end)
        try folder.write(certificate, to: "a.crt")
        #expect(context.refresh(.files(files), now: Date()) == .replaced)
        try await make(options: ["-days", "60"])
        #expect(context.refresh(.files(files), now: Date()) == .replaced)
        #expect(context.endsAt > end)
    }

    @Test func anotherSourceIsUsedWhileTheServerRuns() async throws {
        let root = try TestRoot()
        try await make()
        let context = try root.context(at: Date())
        let fingerprint = try #require(context.fingerprint)
        #expect(context.refresh(root.source(), now: Date()) == .unchanged)
        #expect(context.refresh(.files(files), now: Date()) == .replaced)
        #expect(context.fingerprint == nil)
        #expect(context.refresh(root.source(), now: Date()) == .replaced)
        #expect(context.fingerprint == fingerprint)
    }
}
