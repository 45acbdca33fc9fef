public import CaptureAPI
import Foundation

extension Share.Reason {
    /// Why a share waits, in the published words where they are true.
    public func description(in language: MessageLanguage) -> String {
        switch (self, language) {
        case (.unreachable, .english): "Queued - will retry when connected"
        case (.unreachable, .japanese): "待機中です。接続できたら再試行します"
        case (.failed, .english): "Server unavailable - queued for retry"
        case (.failed, .japanese): "サーバーを利用できません。再試行を待っています"
        default: error.description(in: language)
        }
    }

    /// The error that has the reason's advice.
    public var error: ShareError {
        switch self {
        case .unreachable: ShareError(.unreachable)
        case .foreign: ShareError(.foreign)
        case .failed: ShareError(.server)
        case .rateLimited: ShareError(.rateLimited)
        case .key: ShareError(.key)
        case .forbidden: ShareError(.forbidden)
        case .untrusted: ShareError(.untrusted)
        case .notConfigured: ShareError(.notConfigured)
        }
    }
}

extension Download {
    /// How far a download is, in the published words where they are true.
    public func stateText(in language: MessageLanguage) -> String {
        let isEnglish = language == .english
        switch state {
        case .queued: return isEnglish ? "Waiting in queue..." : "待機中"
        case .started, .downloading:
            let percent = progress?.percent.map { isEnglish ? " \(Int($0)) %" : " \(Int($0))%" } ?? ""
            switch stage {
            case .merging: return isEnglish ? "Merging..." : "統合中…"
            case .checking: return isEnglish ? "Checking..." : "確認中…"
            case .storing: return isEnglish ? "Storing..." : "保存中…"
            case .analysing: return isEnglish ? "Analysing..." : "解析中…"
            case .fetching, nil:
                return (isEnglish ? "Downloading \(service)..." : "取得中…") + percent
            }
        case .previewReady: return isEnglish ? "Preview ready" : "プレビューを表示できます"
        case .completed:
            guard let fileSize else { return isEnglish ? "Completed" : "完了" }
            let size = Self.size(fileSize)
            return isEnglish ? "Downloaded \(size)" : "完了 · \(size)"
        case .cancelled: return isEnglish ? "Cancelled" : "キャンセルしました"
        case .failed, .abortedBySystem:
            let cause = errorMessage ?? errorCode ?? state.rawValue
            return isEnglish ? "Failed: \(cause)" : "失敗: \(cause)"
        }
    }

    /// Returns a size in decimal units: `435 B`, `5.2 MB`.
    private static func size(_ bytes: UInt64) -> String {
        var value = Double(bytes)
        for unit in ["B", "kB", "MB", "GB"] {
            if value < 1000 || unit == "GB" {
                let isWhole = unit == "B" || value >= 100
                return String(format: isWhole ? "%.0f %@" : "%.1f %@", value, unit)
            }
            value /= 1000
        }
        return ""
    }
}
