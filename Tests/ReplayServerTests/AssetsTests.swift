import Foundation
import TestSupport
import Testing

@testable import ReplayServer

struct AssetsTests {
    private func assets() throws -> (Assets, TemporaryFolder) {
        let folder = try TemporaryFolder()
        try folder.write("outside", to: "secret.txt")
        try folder.write("body", to: "www/app/main.js")
        try folder.write("hidden", to: "www/.hidden.js")
        try folder.write("hidden", to: "www/.git/config.txt")
        try folder.write("none", to: "www/app/program.exe")
        try folder.write("none", to: "www/app/plain")
        return (Assets(folder: folder.path("www")), folder)
    }

    @Test func findsPlainNames() throws {
        let (assets, folder) = try assets()
        let asset = try #require(try assets.asset("app/main.js"))
        #expect(asset.bytes == Array("body".utf8))
        #expect(asset.type == "text/javascript; charset=utf-8")
        #expect(!asset.tag.isWeak)
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: [
        "../secret.txt", "app/../../secret.txt", "app/../app/main.js", "./app/main.js", "app//main.js", "/app/main.js",
        "app/", "app", "", "/", ".hidden.js", ".git/config.txt", "app/main.js/", "app/main.js\0", "app/%6dain.js",
        "%2e%2e/secret.txt", "..%2fsecret.txt", "app\\main.js", "app/main.js?x", "app/program.exe", "app/plain",
        "app/mäin.js", "app/missing.js", "app/main.js ", String(repeating: "a", count: 300) + ".js",
    ])
    func rejectsOtherNames(path: String) throws {
        let (assets, folder) = try assets()
        #expect(try assets.asset(path) == nil)
        withExtendedLifetime(folder) {}
    }

    @Test func changedFileHasNewTag() throws {
        let (assets, folder) = try assets()
        let before = try #require(try assets.asset("app/main.js"))
        #expect(try assets.asset("app/main.js")?.tag == before.tag)
        try folder.write("changed", to: "www/app/main.js")
        let after = try #require(try assets.asset("app/main.js"))
        #expect(after.bytes == Array("changed".utf8))
        #expect(after.tag != before.tag)
        try folder.write("body", to: "www/app/main.js")
        #expect(try assets.asset("app/main.js")?.tag == before.tag, "the tag is of the bytes, not of the time")
    }
}
