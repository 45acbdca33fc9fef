import Foundation
import TestSupport
import Testing

@testable import replayhost

/// Which browser `open` starts, and when it fails.
struct BrowserOpeningTests {
    struct Case: Sendable {
        let environment: [String: String]
        let commands: [[String]]?
    }

    @Test(arguments: [
        Case(environment: [:], commands: nil),
        Case(environment: ["DISPLAY": ""], commands: nil),
        Case(environment: ["DISPLAY": ":0"], commands: [["xdg-open", "URL"]]),
        Case(environment: ["WAYLAND_DISPLAY": "w"], commands: [["xdg-open", "URL"]]),
        Case(environment: ["BROWSER": "firefox"], commands: [["firefox", "URL"]]),
        Case(
            environment: ["BROWSER": "a --new %s -x::b", "DISPLAY": ":0"],
            commands: [["a", "--new", "URL", "-x"], ["b", "URL"], ["xdg-open", "URL"]]),
    ])
    func environmentDeterminesCommands(_ c: Case) throws {
        #expect((try? Browser.commands(c.environment, url: "URL")) == c.commands)
    }

    /// Runs `open` with a shell script as the browser.
    private func open(
        _ script: String?, _ environment: [String: String] = [:]
    ) async throws -> (
        store: CommandStore, result: ProgramResult
    ) {
        let store = try CommandStore()
        var environment = environment.merging(["XDG_STATE_HOME": store.folder.path("state")]) { $1 }
        if let script {
            environment["BROWSER"] = "/bin/sh \(try store.folder.write(script, to: "browser"))"
        }
        let result = try await store.run("open", "--port", "0", environment: environment)
        #expect(try await store.run("stop", environment: environment).code == 0)
        return (store, result)
    }

    @Test func browserReceivesTheURL() async throws {
        let (store, result) = try await open("echo \"$1\" > \"$0.address\"")
        #expect(result.code == 0)
        let address = String(decoding: try contents(of: store.folder.path("browser.address")), as: UTF8.self)
        #expect(address == "\(result.outputLines.last ?? "")\n")
        #expect(!result.errors.contains("Couldn't start a browser"))
    }

    @Test func openDoesNotWaitForTheBrowser() async throws {
        let (store, result) = try await open("echo $$ > \"$0.pid\"; exec sleep 600")
        let text = String(decoding: try contents(of: store.folder.path("browser.pid")), as: UTF8.self)
        let browser = try #require(Int32(text.dropLast()))
        defer { kill(browser, SIGKILL) }
        #expect(result.code == 0)
        #expect(!result.errors.contains("Couldn't start a browser"))
        #expect(kill(browser, 0) == 0, "the browser keeps running after `open`")
        #expect(getsid(browser) == browser)
    }

    @Test(arguments: [
        ("exit 3", "/bin/sh failed with exit code 3"), (nil, "no display found and BROWSER isn't set"),
    ])
    func withoutABrowserTheURLIsPrinted(script: String?, reason: String) async throws {
        let (_, result) = try await open(script)
        #expect(result.code == 0)
        #expect(result.outputLines.last?.hasPrefix("http://localhost:") == true)
        #expect(result.errors.contains("Couldn't start a browser ("))
        #expect(result.errors.contains("Open this address yourself: http://localhost:"))
        #expect(result.errors.contains(reason))
    }

    @Test func missingBrowserIsReported() async throws {
        let (_, result) = try await open(nil, ["BROWSER": "/nonexistent/browser"])
        #expect(result.code == 0)
        #expect(result.errors.contains("can't start /nonexistent/browser (No such file or directory)"))
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n{\"status\":\"ok\",\"version\":\"1.2\",\"engine\":null}", "1.2"),
        ("HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\"}", nil),
        ("HTTP/1.1 404 Not Found\r\n\r\n{\"status\":\"ok\",\"version\":\"1\"}", nil),
        ("HTTP/1.1 200 OK\r\n\r\n<html>", nil), ("HTTP/1.1 200 OK\r\n", nil), ("", nil),
    ])
    func healthResponsesOfOtherProgramsAreRejected(response: String, version: String?) {
        #expect(HealthResponse.parse(Array(response.utf8))?.version == version)
    }
}
