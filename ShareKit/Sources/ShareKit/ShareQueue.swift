public import Foundation

/// What this device shares: the queue, and the permanent history. Several processes can use one folder.
public actor ShareQueue {
    /// A file that was damaged.
    public struct Damage: Sendable, Hashable {
        /// The name under which the damaged file is kept, in the folder.
        public let keptAs: String
        /// How many records could be read.
        public let recovered: Int
    }

    /// Where it is.
    public nonisolated let folder: ShareFolder
    private var shares: RecordFile<Share>
    private var history: RecordFile<HistoryEntry>
    /// The damaged files that were found and set aside by this value.
    public private(set) var damages: [Damage] = []

    /// Opens the queue of a folder.
    public init(folder: ShareFolder) {
        self.folder = folder
        shares = RecordFile(folder, "queue.jsonl")
        history = RecordFile(folder, "history.jsonl")
    }

    /// Returns the queue, in its order.
    ///
    /// - Throws: `ShareError`.
    public func all() throws(ShareError) -> [Share] { try shares.read().records }

    /// Returns what this device has shared.
    ///
    /// - Throws: `ShareError`.
    public func entries() throws(ShareError) -> ShareHistory {
        ShareHistory(entries: try history.read().records.reversed())
    }

    /// Keeps shares. They are on disk when this returns.
    ///
    /// - Throws: `ShareError`; then none is kept.
    public func add(_ added: [Share]) throws(ShareError) {
        try folder.withLock { () throws(ShareError) in
            if let aside = try shares.append(added) { keep(aside, try shares.read().records.count - added.count) }
            // Without its entry, a share is sent nevertheless, and the next change of the queue adds the entry.
            if let aside = try? history.append(added.map(HistoryEntry.init)) {
                keep(aside, try history.read().records.count - added.count)
            }
        }
    }

    /// Starts again from the first attempt.
    ///
    /// - Parameter id: Of a share; `nil` for all that aren't confirmed.
    /// - Returns: How many.
    /// - Throws: `ShareError`.
    @discardableResult
    public func retry(_ id: UUID? = nil) throws(ShareError) -> Int {
        var count = 0
        try change { share in
            guard share.status != .confirmed, id == nil || share.id == id else { return }
            // One that is being sent stays as it is until its answer is there.
            if share.status != .uploading { share.reset() }
            count += 1
        }
        return count
    }

    /// Deletes entries of the history, and what the queue still has of them. What isn't confirmed is never sent.
    ///
    /// - Returns: How many.
    /// - Throws: `ShareError`.
    @discardableResult
    public func delete(_ matches: @Sendable (HistoryEntry) -> Bool) throws(ShareError) -> Int {
        try folder.withLock { () throws(ShareError) in
            let ids = Set(try history.read().records.filter(matches).map(\.id))
            // If this ends between the two, `tidy` restores what the queue has.
            try keep(history.replace { $0.filter { !ids.contains($0.id) } }, try history.read().records.count)
            try keep(shares.replace { $0.filter { !ids.contains($0.id) } }, try shares.read().records.count)
            return ids.count
        }
    }

    /// Puts the queue in order. Call it while no other process sends: what was being sent when its process ended is pending
    /// again, and old confirmed shares leave the queue.
    func tidy(now: Date, clearConfirmedAfter seconds: Double) throws(ShareError) {
        try replaceShares { list in
            list.compactMap { share in
                var share = share
                if share.status == .uploading { share.status = .pending }
                let age = now.timeIntervalSince(share.lastAttempt ?? share.cachedAt)
                return share.status == .confirmed && age >= seconds ? nil : share
            }
        }
    }

    /// Changes one share.
    func change(_ id: UUID, _ body: (inout Share) -> Void) throws(ShareError) {
        try change { share in
            if share.id == id { body(&share) }
        }
    }

    /// Takes a share that the server can never accept out of the queue. The history keeps it, with the reason.
    func refuse(_ share: Share, _ message: String) throws(ShareError) {
        var refused = share
        (refused.status, refused.message) = (.failed, message)
        let entry = HistoryEntry(refused)
        try folder.withLock { () throws(ShareError) in
            try putInHistory([entry])
            try keep(shares.replace { $0.filter { $0.id != share.id } }, try shares.read().records.count)
        }
    }

    private func change(_ body: (inout Share) -> Void) throws(ShareError) {
        try replaceShares { list in
            list.map { share in
                var share = share
                body(&share)
                return share
            }
        }
    }

    private func replaceShares(_ body: ([Share]) -> [Share]) throws(ShareError) {
        try folder.withLock { () throws(ShareError) in
            let aside = try shares.replace(body)
            let list = try shares.read().records
            keep(aside, list.count)
            try putInHistory(list.map(HistoryEntry.init))
        }
    }

    /// Adds these entries, or replaces those with their IDs.
    private func putInHistory(_ entries: [HistoryEntry]) throws(ShareError) {
        let aside = try history.replace { old in
            var new = Dictionary(entries.map { ($0.id, $0) }) { first, _ in first }
            let replaced = old.map { new.removeValue(forKey: $0.id) ?? $0 }
            return replaced + entries.filter { new[$0.id] != nil }
        }
        keep(aside, try history.read().records.count)
    }

    private func keep(_ aside: String?, _ recovered: Int) {
        if let aside { damages.append(Damage(keptAs: aside, recovered: recovered)) }
    }
}
