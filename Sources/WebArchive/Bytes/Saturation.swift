extension FixedWidthInteger {
    /// The sum, or the largest number when there is no room for it: for totals of numbers that come from files or the catalog.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
