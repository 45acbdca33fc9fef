import Foundation
import TestSupport
import Testing

@testable import CaptureWorker

struct ToolboxTests {
    /// As Ubuntu's `/usr/bin/chromium-browser`, and a script of Debian's kind.
    @Test(arguments: [
        ("#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n", true),
        ("#!/bin/sh\nexec /usr/lib/chromium/chromium \"$@\"\n", false),
        ("\u{7F}ELF /snap/bin/chromium", false), ("", false),
    ])
    func scriptsThatStartSnapsAreSnaps(script: String, isSnap: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/chromium"
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        #expect(Toolbox.isSnap(path) == isSnap)
    }

    @Test func missingProgramIsNoSnap() { #expect(!Toolbox.isSnap("/nonexistent/chromium")) }
}
