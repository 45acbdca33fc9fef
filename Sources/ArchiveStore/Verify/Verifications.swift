package import ArchiveSignature
import Foundation
import WebArchive

/// The verifications of a store's archives.
package struct Verifications: Sendable {
    let store: ArchiveStore

    private var layout: StoreLayout { store.layout }

    /// Returns an archive's last verification; `nil` if there was none of this file.
    package func last(of archive: Archive) -> VerificationReport? {
        archive.fileState(in: layout).flatMap { read(VerificationReport.self, .verified, archive, $0) }
    }

    /// Verifies an archive and its signature, continuing where an interrupted verification ended.
    ///
    /// - Parameters:
    ///   - trust: The roots that the signature must lead to; `nil` for the system's.
    ///   - collection: Archives that replay together with it and may have its revisits' payloads. With these, nothing is
    ///     stored or continued: the result is that of the archive in the collection.
    ///   - step: Called often with the number of bytes of the file that were read; throws to stop.
    /// - Returns: The report; `nil` if the archive was removed, or its file was replaced or changed meanwhile.
    /// - Throws: What `step` throws; `StoreError` if the file can't be read.
    package func verify(
        _ archive: Archive, trust: TrustRoots?, in collection: [Archive] = [], step: (_ done: UInt64) throws -> Void
    ) throws -> VerificationReport? {
        try withoutActuallyEscaping(step) { step in
            let isAlone = collection.isEmpty
            let opened = try archive.openFile(in: layout)
            let state = try opened.state()
            let saved = isAlone ? read(VerificationProgress.self, .verifying, archive, state) : nil
            var latest: VerificationProgress?
            var savedAt = ContinuousClock.now
            // What was done since is lost if it can't be saved, and only that.
            defer { if let latest { try? save(latest, archive, state) } }
            // Also of the file before it was changed, if this store had read it.
            let before = archive.lastReading.flatMap { read(VerificationReport.self, .verified, archive, $0.state) }
            // All of it was hashed then.
            let isJustImported =
                before == nil && archive.lastReading?.state == state
                && archive.importedAt.timeIntervalSinceNow > -86_400
            var checked = try StoreError.refusingDamage {
                let file = try opened.bytes(named: "\(archive.id).wacz")
                let wacz: WACZFile
                do {
                    wacz = try WACZFile.open(file)
                } catch let error as WebArchiveError where error.code != .io {
                    return CheckedArchive(unreadable: error)
                }
                let lookups = StoreLookups(store, IndexedArchive(archive, wacz, layout: layout), collection)
                let verifier = ArchiveVerifier(
                    wacz, continuing: saved ?? VerificationProgress(), lookups: lookups,
                    wholeFile: isJustImported ? nil : archive.sha256
                ) { done, progress in
                    latest = isAlone ? progress ?? latest : nil
                    if latest != nil, progress != nil, savedAt.duration(to: .now) > Self.saveInterval {
                        try save(progress, archive, state)
                        (latest, savedAt) = (nil, .now)
                    }
                    try step(done)
                }
                return try CheckedArchive(verifier, wacz, trust)
            }
            latest = nil
            if isAlone, !store.isReadOnly, checked.result.findings.contains(where: { $0.code == "content-uncovered" }) {
                try store.committer.correctContents(of: archive)
            }
            // A result is of the file as it was, from its first byte to its last.
            guard archive.fileState(in: layout) == state else { return nil }
            checked.add(archive.sourceFindings ?? [])
            guard isAlone else { return VerificationReport(checked, after: nil) }
            return try finish(VerificationReport(checked, after: before), archive, state)
        }
    }

    /// Verifies a file that isn't in a store.
    ///
    /// - Throws: What `step` throws; `StoreError` if the file can't be read.
    package static func verify(
        fileAt path: String, trust: TrustRoots?, step: (_ done: UInt64) throws -> Void
    ) throws -> VerificationReport {
        try withoutActuallyEscaping(step) { step in
            let result = try StoreError.refusingDamage {
                let wacz = try WACZFile.open(path: path)
                let verifier = ArchiveVerifier(wacz, lookups: FileLookups(wacz)) { done, _ in try step(done) }
                return try CheckedArchive(verifier, wacz, trust)
            }
            return VerificationReport(result, after: nil)
        }
    }

    /// Stores a report, and deletes the progress.
    private func finish(
        _ report: VerificationReport, _ archive: Archive, _ state: String
    ) throws -> VerificationReport? {
        guard !store.isReadOnly else { return report }
        return try store.committing {
            // A linked file may have got its SHA-256, and with it another key.
            guard let now = try store.catalog.archive(id: archive.id), now.fileState(in: layout) == state else {
                return nil
            }
            try write(report, .verified, now, state)
            for key in Set([archive.key, now.key]) { try Folder.delete(layout.derived(.verifying, key: key)) }
            _ = try store.catalog.setVerification(
                report.summary, of: state, findings: report.result.findings, key: now.key)
            return report
        }
    }

    /// Adds the last verification to the catalog, which was rebuilt. The files of a store that was copied are in other
    /// states, so that its documents can't claim results. Those of a drive that was moved as it is can.
    func restore(_ archive: Archive) throws {
        guard let report = last(of: archive), let state = archive.fileState(in: layout) else { return }
        _ = try store.catalog.setVerification(
            report.summary, of: state, findings: report.result.findings, key: archive.key)
    }

    /// Returns the archives whose files are in another state than when they were verified. Looks at all files.
    package func changed() throws -> [Archive] {
        try store.catalog.allArchives().filter { archive in
            guard archive.verified != nil, let state = archive.fileState(in: layout) else { return false }
            return state != archive.lastReading?.state
        }
    }

    /// Forgets the results of changed files, so that these are verified again.
    package func forgetChanged() throws {
        guard !store.isReadOnly else { return }
        try store.catalog.forgetVerifications(of: changed().map(\.key))
    }

    /// Queues the verification of archives whose last one is older than `days`, or that were never verified.
    package func queueAudit(days: Int) throws {
        try store.jobs.queueVerifications(olderThan: Date(timeIntervalSinceNow: -Double(days) * 86_400))
    }

    private func read<Value: Codable>(
        _ type: Value.Type, _ file: DerivedFile, _ archive: Archive, _ state: String
    ) -> Value? {
        let path = layout.derived(file, key: archive.key)
        let document = try? StoreDocument.read(Stamped<Value>.self, at: path, bytesMax: Self.bytesMax)
        return document?.stamp == Self.stamp(state) ? document?.content : nil
    }

    /// Saves progress. Without the lock, another process that reconciles the folder would take the new file for one that a killed
    /// process left.
    private func save(_ progress: VerificationProgress?, _ archive: Archive, _ state: String) throws {
        guard let progress, !store.isReadOnly else { return }
        try store.committing {
            guard try store.catalog.archive(key: archive.key) != nil else { return }
            try write(progress, .verifying, archive, state)
        }
    }

    /// Call it with the commit lock.
    private func write(_ value: some Codable, _ file: DerivedFile, _ archive: Archive, _ state: String) throws {
        guard !store.isReadOnly else { return }
        try StoreDocument.write(
            Stamped(stamp: Self.stamp(state), content: value), to: layout.derived(file, key: archive.key),
            bytesMax: Self.bytesMax)
    }

    /// Identifies the format and the file in its state.
    private static func stamp(_ state: String) -> String { "2-\(state)" }

    private struct Stamped<Content: Codable>: Codable {
        let stamp: String
        let content: Content
    }

    /// What a killed process may lose.
    private static let saveInterval = Duration.seconds(5)
    private static let bytesMax = 32 << 20
}

/// Looks captures up as replay does.
private final class StoreLookups: VerificationLookups {
    private let indexed: IndexedArchive
    private let check = CancellationCheck()
    private var resolver: RevisitResolver<IndexedArchive>

    init(_ store: ArchiveStore, _ indexed: IndexedArchive, _ collection: [Archive]) {
        self.indexed = indexed
        resolver = store.resolver.revisitResolver(collection, check)
    }

    func isCaptured(_ page: Page) throws -> Bool {
        let request = ArchiveStore.CaptureRequest(url: page.url, time: page.captureTime)
        return try indexed.closestCapture(CaptureLookup(request, check)) != nil
    }

    func missingPayload(of revisit: CDXJEntry) throws -> MissingPayload? {
        let own = try indexed.wacz.content(of: revisit, check)
        return try resolver.payload(of: own, revisit, in: indexed) == nil ? MissingPayload(of: own, revisit) : nil
    }
}
