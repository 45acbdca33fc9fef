import CaptureTLS
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// Connections with `openssl s_client` to a listener that uses the handler.
@Suite(.enabled(if: openSSL != nil, "openssl isn't installed"))
struct TLSContextTests {
    private func withListener(
        _ context: TLSContext,
        _ body: (_ connect: @Sendable ([String]) async throws -> ProgramResult) async throws -> Void
    ) async throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(context.makeHandler())
                }
            }
        let channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await body { options in
            try await run(openSSL ?? "openssl", ["s_client", "-connect", "127.0.0.1:\(port)"] + options)
        }
        try await channel.close()
    }

    @Test func clientsThatTrustTheRootConnect() async throws {
        let root = try TestRoot()
        let context = try root.context(at: Date())
        try await withListener(context) { connect in
            let trusting = ["-CAfile", root.path("root.crt"), "-verify_return_error", "-verify_ip", "127.0.0.1"]
            for version in ["-tls1_2", "-tls1_3"] {
                let result = try await connect(trusting + [version, "-alpn", "h2,http/1.1"])
                #expect(result.code == 0, "\(result.errors)")
                #expect(result.output.contains("Verification: OK"))
                #expect(result.output.contains("ALPN protocol: http/1.1"))
            }
            let other = try await connect(["-verify_return_error", "-CAfile", "/dev/null"])
            #expect(other.code != 0)
        }
    }

    @Test func olderVersionsOfTLSAreRefused() async throws {
        let context = try TestRoot().context(at: Date())
        try await withListener(context) { connect in
            let result = try await connect(["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
            #expect(result.code != 0)
            #expect(result.errors.contains("alert protocol version"), "\(result.errors)")
        }
    }

    /// RFC 9325 §4.2: suites with AEAD and forward secrecy.
    @Test(arguments: [
        ("ECDHE-ECDSA-AES128-SHA", false), ("ECDHE-ECDSA-AES256-SHA", false), ("ECDHE-ECDSA-AES128-SHA256", false),
        ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-AES256-GCM-SHA384", true),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", true),
    ])
    func suitesWithCBCAreRefused(suite: String, isAccepted: Bool) async throws {
        let context = try TestRoot().context(at: Date())
        try await withListener(context) { connect in
            let result = try await connect(["-tls1_2", "-cipher", "\(suite):@SECLEVEL=0"])
            #expect(result.output.contains("Cipher is \(suite)") == isAccepted, "\(result.errors)")
            if !isAccepted { #expect(result.errors.contains("handshake failure"), "\(result.errors)") }
        }
    }

    @Test func newConnectionsGetTheNewCertificate() async throws {
        let root = try TestRoot()
        let context = try root.context(at: Date())
        try await withListener(context) { connect in
            func names() async throws -> String {
                let shown = try await connect([]).output
                let text = try await run(
                    openSSL ?? "openssl", ["x509", "-noout", "-ext", "subjectAltName"], input: Array(shown.utf8))
                return text.output
            }
            #expect(try await names().contains("192.168.1.119"))
            let moved = ServerNames(hostName: "anas-pc", addresses: ["10.1.2.3"])
            #expect(context.refresh(root.source(moved), now: Date()) == .replaced)
            #expect(context.refresh(root.source(moved), now: Date()) == .unchanged)
            let found = try await names()
            #expect(found.contains("10.1.2.3") && !found.contains("192.168.1.119"))
            // 29 days before its end, without a restart
            let late = context.endsAt - days(29)
            #expect(context.refresh(root.source(moved), now: late) == .replaced)
        }
    }
}
