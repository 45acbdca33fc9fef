import Synchronization

/// The settings that are in force; another configuration changes them while the server runs.
final class CurrentSettings: Sendable {
    private let settings: Mutex<CaptureSettings>

    init(_ settings: CaptureSettings) { self.settings = Mutex(settings) }

    var value: CaptureSettings {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }
}
