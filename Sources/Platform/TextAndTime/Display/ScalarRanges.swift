extension [ClosedRange<UInt32>] {
    /// Returns whether one of the ranges, which are sorted, contains a scalar.
    func contains(_ scalar: Unicode.Scalar) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].contains(scalar.value)
    }
}
