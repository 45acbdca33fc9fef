extension WACZFile {
    /// Returns whether each index file can be searched. Reads the blocks of ZipNum indexes again, one by one.
    ///
    /// - Parameters:
    ///   - reader: A reader that has read every index to its end.
    ///   - progress: Called regularly; throws to stop.
    /// - Throws: The errors of `progress`; `io`.
    func searchableIndexes(
        _ reader: CaptureReader, _ progress: () throws -> Void
    ) throws -> [WACZInspection.SearchableIndex] {
        var reason: SequentialReason?
        var unsearchable: [String: SequentialReason] = [:]
        do {
            switch try IndexFinder(self).find() {
            case .failure(let error): reason = error.reason
            case .success(let indexes): try check(indexes, progress, &unsearchable)
            }
        } catch let error as WebArchiveError where error.isIndexFault {
            reason = SequentialReason(error, file: "indexes/")
        }
        for file in reader.filesWithOtherRecords {
            let problem = "the index also lists records that aren't captures"
            unsearchable[file] = SequentialReason(.notCaptures, file: file, problem)
        }
        if let file = reader.fileWithoutLastLine, unsearchable[file] == nil {
            unsearchable[file] = SequentialReason(.lastLineMissing, file: file, "the index lacks its last line")
        }
        for file in reader.unsortedFiles {
            unsearchable[file] = SequentialReason(.unsorted, file: file, "the index isn't sorted")
        }
        if reader.isReadingRecords {
            reason = reason ?? SequentialReason(.empty, file: "indexes/", "an index lists no captures")
        }
        let isOfOne = indexEntries.contains { $0.name == reason?.file }
        return indexEntries.map { entry in
            let own = isOfOne && reason?.file != entry.name ? nil : reason
            return WACZInspection.SearchableIndex(file: entry.name, reason: own ?? unsearchable[entry.name])
        }
    }

    private func check(
        _ indexes: [CDXJIndex], _ progress: () throws -> Void, _ unsearchable: inout [String: SequentialReason]
    ) throws {
        for index in indexes {
            guard case .zipNum(let zipNum) = index else { continue }
            do {
                try zipNum.checkBlocks(progress)
            } catch let error as WebArchiveError where error.isIndexFault {
                for number in zipNum.fileNumbers {
                    let file = indexEntries[number].name
                    unsearchable[file] = SequentialReason(error, file: file)
                }
            }
        }
    }
}
