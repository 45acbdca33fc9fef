public import Foundation

/// Why something can't be shared, kept, sent or shown.
public struct ShareError: Error, Sendable, Hashable {
    /// What went wrong, for programs.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case noURL = "no-url"
        case urlTooLong = "url-too-long"
        case invalidURL = "invalid-url"
        case domainNotAllowed = "domain-not-allowed"
        case notConfigured = "not-configured"
        case unreachable
        case timedOut = "timed-out"
        case foreign
        case untrusted
        case key
        case forbidden
        case rateLimited = "rate-limited"
        case server
        /// The server can never accept it.
        case refused
        case notFound = "not-found"
        case storageFull = "storage-full"
        case storage
        case foreignCode = "foreign-code"
        case laterCode = "later-code"
        case codeWithoutLAN = "code-without-lan"
        case codeWithInvalidKey = "code-with-invalid-key"
        case invalidSetting = "invalid-setting"
    }

    /// What went wrong.
    public let code: Code
    /// What the server, the system or another program said; empty for nothing.
    public let details: String

    /// Creates an error.
    public init(_ code: Code, _ details: String = "") { (self.code, self.details) = (code, details) }

    /// The failure of a system call, by `errno`.
    static func system(_ what: String) -> ShareError {
        let number = errno
        let isFull = number == ENOSPC || number == EDQUOT
        return ShareError(isFull ? .storageFull : .storage, "\(what): \(String(cString: strerror(number)))")
    }
}

/// The languages of messages.
public enum MessageLanguage: String, Sendable, Hashable, Codable, CaseIterable {
    case english = "en"
    case japanese = "ja"

    /// Japanese if the person prefers it, else English.
    public static var preferred: MessageLanguage {
        Locale.preferredLanguages.first?.hasPrefix("ja") == true ? .japanese : .english
    }
}

extension ShareError: LocalizedError {
    /// What happened, in the language that the person prefers.
    public var errorDescription: String? { description(in: .preferred) }
    /// What to do, in the language that the person prefers.
    public var recoverySuggestion: String? { recovery(in: .preferred) }

    /// What happened, in the published words where they are true, with the details.
    public func description(in language: MessageLanguage) -> String {
        let text = language == .english ? texts.english : texts.japanese
        guard !details.isEmpty else { return text }
        return language == .english ? "\(text): \(details)" : "\(text)（\(details)）"
    }

    /// What to do.
    public func recovery(in language: MessageLanguage) -> String {
        language == .english ? texts.englishRecovery : texts.japaneseRecovery
    }

    private struct Texts {
        let english: String
        let englishRecovery: String
        let japanese: String
        let japaneseRecovery: String

        init(_ english: String, _ englishRecovery: String, _ japanese: String, _ japaneseRecovery: String) {
            (self.english, self.englishRecovery) = (english, englishRecovery)
            (self.japanese, self.japaneseRecovery) = (japanese, japaneseRecovery)
        }
    }

    private var texts: Texts {
        switch code {
        case .noURL:
            Texts(
                "Unable to share this content: it has no URL",
                "Share a text with a URL that begins with http or https.",
                "この内容は共有できません。URLがありません", "httpかhttpsで始まるURLを含むテキストを共有してください。")
        case .urlTooLong:
            Texts(
                "Unable to share this content: a URL has at most 2048 characters",
                "Share a shorter URL of the same page.",
                "この内容は共有できません。URLは2048文字までです", "同じページの短いURLを共有してください。")
        case .invalidURL:
            Texts(
                "Unable to share this content: its URL isn't complete, or has a user name",
                "Make sure the URL is complete and properly formatted.",
                "この内容は共有できません。URLが完全でないか、ユーザー名を含んでいます", "URLが完全で正しい形式か確認してください。")
        case .domainNotAllowed:
            Texts(
                "Unable to share this content: your settings allow other sites only",
                "Add the site to the allowed domains.",
                "この内容は共有できません。設定で許可されているのは別のサイトだけです", "許可するドメインにサイトを追加してください。")
        case .notConfigured:
            Texts(
                "Server not configured", "Connect to your server with the code that it shows.",
                "サーバーが設定されていません", "サーバーが表示するコードで接続してください。")
        case .unreachable:
            Texts(
                "Cannot connect to server", "Make sure that the server runs, and that this device is in its network.",
                "サーバーに接続できません", "サーバーが動作しているか、この端末が同じネットワークにあるか確認してください。")
        case .timedOut:
            Texts(
                "Request timed out", "Please check your connection and try again.",
                "リクエストがタイムアウトしました", "接続を確認して、もう一度試してください。")
        case .foreign:
            Texts(
                "Another program answered instead of the server",
                "Check the address, and that this device is in the right network.",
                "サーバーではなく、別のプログラムが応答しました", "アドレスと、この端末のネットワークを確認してください。")
        case .untrusted:
            Texts(
                "Server certificate not trusted",
                "Nothing was sent. If the server was set up again, connect with a new code; else another computer may answer at its address.",
                "サーバー証明書が信頼されていません",
                "何も送信していません。サーバーを設定し直した場合は、新しいコードで接続してください。そうでなければ、別のコンピューターが応答している可能性があります。")
        case .key:
            Texts(
                "The server wants another key", "Ask your server administrator for an API key, and connect again.",
                "サーバーが別のキーを求めています", "サーバーの管理者にAPIキーを求め、もう一度接続してください。")
        case .forbidden:
            Texts(
                "The server refuses this device", "Connect again with a new code of the server.",
                "サーバーがこの端末を拒否しました", "サーバーの新しいコードで、もう一度接続してください。")
        case .rateLimited:
            Texts(
                "The server limits how many URLs it accepts in an hour", "It's sent later.",
                "サーバーが1時間に受け付けるURLの数には上限があります", "後で送信します。")
        case .server:
            Texts(
                "Server error", "Try again later or contact your server administrator.",
                "サーバーエラー", "後でもう一度試すか、サーバーの管理者に連絡してください。")
        case .refused:
            Texts(
                "The server can't accept this", "Change what the message names, and share it again.",
                "サーバーはこれを受け付けられません", "メッセージの内容を直して、もう一度共有してください。")
        case .notFound:
            Texts(
                "The download was not found", "It may have been deleted.",
                "ダウンロードが見つかりません", "削除された可能性があります。")
        case .storageFull:
            Texts(
                "Unable to cache - storage full", "Copy the URL, free some space, and try again.",
                "保存領域がいっぱいのため、保留できません", "URLをコピーし、空き容量を増やしてから、もう一度試してください。")
        case .storage:
            Texts(
                "Unable to cache", "Make sure that the folder can be written.",
                "保留できません", "フォルダーに書き込めるか確認してください。")
        case .foreignCode:
            Texts(
                "This isn't a code of a capture server", "Use the code that `replayhost-capture setup` shows for apps.",
                "サーバーのコードではありません", "`replayhost-capture setup`がアプリ用に表示するコードを使ってください。")
        case .laterCode:
            Texts(
                "The code is of a later version", "Update this program.",
                "新しいバージョンのコードです", "このプログラムを更新してください。")
        case .codeWithoutLAN:
            Texts(
                "The code has no address of a server", "Make a new code with `replayhost-capture setup`.",
                "コードにサーバーのアドレスがありません", "`replayhost-capture setup`で新しいコードを作ってください。")
        case .codeWithInvalidKey:
            Texts(
                "The key in the code isn't valid", "Make a new code with `replayhost-capture setup`.",
                "コードのキーが正しくありません", "`replayhost-capture setup`で新しいコードを作ってください。")
        case .invalidSetting:
            Texts(
                "There is no such setting, or it can't have this value", "See the names and values of all settings.",
                "そのような設定がないか、この値にはできません", "すべての設定の名前と値を確認してください。")
        }
    }
}
