import CaptureTLS
import Foundation
import SwiftASN1
import TestSupport
import Testing
import X509

/// The `openssl` program; `nil` if it isn't installed.
let openSSL: String? = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

/// 2026-11-20 12:00:00 UTC.
let someTime = Date(timeIntervalSince1970: 1_795_176_000)

func days(_ count: Double) -> Double { count * 86_400 }

let homeNames = ServerNames(
    hostName: "anas-pc", names: ["save.home.example"], addresses: ["192.168.1.119", "fd12:3456::7", "fe80::1%eth0"])

/// A folder for a root and its certificates.
struct TestRoot {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var tls: String { folder.path("capture/tls") }
    func path(_ name: String) -> String { "\(tls)/\(name)" }

    func source(_ names: ServerNames = homeNames) -> TLSContext.Source { .ownRoot(folder: tls, names: names) }

    func context(_ names: ServerNames = homeNames, at time: Date = someTime) throws -> TLSContext {
        try TLSContext(source(names), now: time)
    }

    func certificate(_ name: String) throws -> Certificate {
        try Certificate(pemEncoded: String(decoding: try contents(of: path(name)), as: UTF8.self))
    }

    func text(_ name: String) throws -> [UInt8] { try contents(of: path(name)) }

    /// Runs `openssl` in the folder of the certificates.
    func openssl(_ arguments: String...) async throws -> ProgramResult {
        try await run(openSSL ?? "openssl", arguments, folder: tls)
    }

    /// Makes a certificate with `openssl`, signed by our root, and returns its file.
    func sign(_ subject: String, names: String, usage: String = "serverAuth") async throws -> String {
        try folder.write("subjectAltName=\(names)\nextendedKeyUsage=\(usage)\n", to: "capture/tls/ext")
        let request = try await openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "other.key",
            "-subj", subject, "-out", "other.csr")
        let signed = try await openssl(
            "x509", "-req", "-in", "other.csr", "-CA", "root.crt", "-CAkey", "root.key", "-days", "30", "-extfile",
            "ext",
            "-out", "other.crt")
        try #require(request.code == 0 && signed.code == 0, "\(request.errors) \(signed.errors)")
        return "other.crt"
    }
}
