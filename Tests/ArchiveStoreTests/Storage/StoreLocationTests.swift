import ArchiveStore
import Testing

struct StoreLocationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var option: String?
        var environment: [String: String] = [:]
        var executable = "/usr/bin/replayhost"
        let path: String
        let reason: String
    }

    // PRODUCT.md, "The store": the order; XDG Base Directory Specification 0.8 for the last.
    @Test(arguments: [
        Case(
            testDescription: "option first", option: "/o", environment: ["REPLAYHOST_STORE": "/v", "HOME": "/h"],
            executable: "/src/.build/debug/replayhost", path: "/o", reason: "--store"),
        Case(testDescription: "relative option", option: "s/t/", path: "/here/s/t", reason: "--store"),
        Case(testDescription: "option of root", option: "/", path: "/", reason: "--store"),
        Case(
            testDescription: "variable second", environment: ["REPLAYHOST_STORE": "/v", "HOME": "/h"],
            executable: "/src/.build/debug/replayhost", path: "/v", reason: "REPLAYHOST_STORE"),
        Case(
            testDescription: "empty variable is none", environment: ["REPLAYHOST_STORE": "", "HOME": "/h"],
            path: "/h/.local/share/replayhost", reason: "your data folder"),
        Case(
            testDescription: "checkout third", environment: ["HOME": "/h", "XDG_DATA_HOME": "/x"],
            executable: "/src/.build/x86_64-unknown-linux-gnu/debug/replayhost", path: "/src/archives",
            reason: "this checkout"),
        Case(
            testDescription: "XDG fourth", environment: ["HOME": "/h", "XDG_DATA_HOME": "/x"], path: "/x/replayhost",
            reason: "your data folder"),
        Case(
            testDescription: "relative XDG is ignored", environment: ["HOME": "/h", "XDG_DATA_HOME": "x"],
            path: "/h/.local/share/replayhost", reason: "your data folder"),
        Case(
            testDescription: "empty XDG is none", environment: ["HOME": "/h", "XDG_DATA_HOME": ""],
            path: "/h/.local/share/replayhost", reason: "your data folder"),
    ])
    func precedence(_ c: Case) {
        let chosen = StoreLocation.choose(
            option: c.option, environment: c.environment, executable: c.executable, currentFolder: "/here")
        #expect(chosen.path == c.path)
        #expect(chosen.reason == c.reason)
    }
}
