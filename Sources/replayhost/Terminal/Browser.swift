import Foundation

/// The person's browser.
enum Browser {
    /// Asks the desktop to open an address; says the address when there is no desktop.
    static func open(_ address: String) {
        #if os(macOS)
        let opener = "/usr/bin/open"
        #else
        let opener = "/usr/bin/xdg-open"
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: opener)
        process.arguments = [address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            Terminal.writeError("no browser could be started; open \(address)")
        }
    }
}
