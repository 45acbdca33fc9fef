import ReplayHostKit

/// One line on standard error that follows an import, when somebody is looking at it.
struct ProgressLine {
    private let name: String
    private let isShown: Bool
    private var lastShown = ContinuousClock.now - .seconds(1)
    private let began = ContinuousClock.now

    init(name: String, isShown: Bool) {
        self.name = Terminal.safe(name)
        self.isShown = isShown && Terminal.isErrorTerminal
    }

    mutating func show(_ progress: ImportProgress) {
        guard isShown, lastShown.duration(to: .now) > .milliseconds(100) else { return }
        lastShown = .now
        let text = Self.text(progress, secondsPassed: Self.seconds(began.duration(to: .now)))
        let room = max(10, Terminal.columns - text.count - 2)
        let shownName = name.count > room ? "…" + name.suffix(room - 1) : name
        Terminal.showProgress("\(shownName) \(text)")
    }

    /// Takes the line away again.
    func clear() {
        if isShown { Terminal.showProgress("") }
    }

    static func text(_ progress: ImportProgress, secondsPassed: Double) -> String {
        switch progress {
        case .copying(let done, let total?) where total > 0:
            let percent = Int(Double(done) / Double(total) * 100)
            return
                "\(bar(percent)) \(percent) %, \(Terminal.size(done)) of \(Terminal.size(total))\(rate(done, secondsPassed))"
        case .copying(let done, _):
            return "\(Terminal.size(done)) copied\(rate(done, secondsPassed))"
        case .checking(let done, let total) where total > 0:
            return "checking, \(Int(Double(done) / Double(total) * 100)) %"
        case .checking:
            return "checking"
        case .indexing(let done, let total) where total > 0:
            return "indexing, \(Int(Double(done) / Double(total) * 100)) %"
        case .indexing:
            return "indexing"
        case .waiting:
            return "waiting for another replayhost to finish"
        }
    }

    private static func bar(_ percent: Int) -> String {
        let filled = min(20, percent / 5)
        return "[" + String(repeating: "=", count: filled) + String(repeating: " ", count: 20 - filled) + "]"
    }

    private static func rate(_ bytes: UInt64, _ seconds: Double) -> String {
        seconds > 0.5 ? ", \(Terminal.size(UInt64(Double(bytes) / seconds)))/s" : ""
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
