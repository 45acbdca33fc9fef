import ArchiveStore
import CommandSupport
import ReplayHostKit
import WebArchive

/// A progress line on standard error, shown only on a terminal.
struct ProgressLine {
    /// The position of a file among several.
    struct Batch {
        let number: Int
        let count: Int
        /// The number of bytes in the files before it.
        let before: UInt64
        /// The number of bytes in all files.
        let total: UInt64
        let began: ContinuousClock.Instant
    }

    private let name: String
    private let isShown: Bool
    private let batch: Batch?
    private var lastShown = ContinuousClock.now - .seconds(1)
    private let began = ContinuousClock.now

    /// - Parameter batch: `nil` for a single file.
    init(name: String, isShown: Bool, batch: Batch? = nil) {
        self.name = Terminal.safe(name)
        self.isShown = isShown && Terminal.isErrorTerminal
        self.batch = batch
    }

    mutating func show(_ progress: ImportProgress) {
        guard isShown, lastShown.duration(to: .now) > .milliseconds(100) else { return }
        lastShown = .now
        let text = Self.text(progress, secondsPassed: Self.seconds(since: began)) + timeLeft(progress)
        let position = batch.map { "\($0.number) of \($0.count): " } ?? ""
        let room = max(10, Terminal.columns - text.count - position.count - 2)
        Terminal.showProgress("\(position)\(Terminal.truncated(name, to: room)) \(text)")
    }

    /// The time left for the whole batch, or for this file.
    private func timeLeft(_ progress: ImportProgress) -> String {
        guard case .copying(let done, let total?) = progress else { return "" }
        if let batch {
            return Self.timeLeft(batch.before.addingSaturated(done), of: batch.total, Self.seconds(since: batch.began))
        }
        return Self.timeLeft(done, of: total, Self.seconds(since: began))
    }

    /// Clears the line.
    func clear() {
        if isShown { Terminal.showProgress("") }
    }

    static func text(_ progress: ImportProgress, secondsPassed: Double) -> String {
        switch progress {
        case .copying(let done, let total?) where total > 0:
            let percent = Terminal.percent(done, of: total)
            return
                "\(bar(percent)) \(percent)%, \(Terminal.size(done)) of \(Terminal.size(total))\(rate(done, secondsPassed))"
        case .copying(let done, _):
            return "\(Terminal.size(done)) copied\(rate(done, secondsPassed))"
        case .checking(let done, let total) where total > 0:
            return "checking, \(Terminal.percent(done, of: total))%"
        case .checking:
            return "checking"
        case .indexing(let done, let total) where total > 0:
            return "indexing, \(Terminal.percent(done, of: total))%"
        case .indexing:
            return "indexing"
        case .waiting:
            return "waiting for another replayhost to finish"
        }
    }

    /// Returns the estimated time left, such as ", 2 min left"; empty while unknown.
    static func timeLeft(_ done: UInt64, of total: UInt64, _ secondsPassed: Double) -> String {
        guard secondsPassed > 2, done > 0, done < total else { return "" }
        let seconds = Double(total - done) / Double(done) * secondsPassed
        switch seconds {
        case ..<60: return ", \(Int(seconds.rounded(.up))) s left"
        case ..<3600: return ", \(Int((seconds / 60).rounded(.up))) min left"
        case ..<360_000: return ", \(Int((seconds / 3600).rounded(.up))) h left"
        default: return ""
        }
    }

    private static func bar(_ percent: Int) -> String {
        let filled = min(20, percent / 5)
        return "[" + String(repeating: "=", count: filled) + String(repeating: " ", count: 20 - filled) + "]"
    }

    private static func rate(_ bytes: UInt64, _ seconds: Double) -> String {
        seconds > 0.5 ? ", \(Terminal.size(UInt64(Double(bytes) / seconds)))/s" : ""
    }

    private static func seconds(since moment: ContinuousClock.Instant) -> Double {
        let duration = moment.duration(to: .now)
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
