import TextAndTime

/// The period that a report covers.
package enum FleetWindow {
    /// Parses a period such as `90m`, at most 400 days.
    package static func seconds(_ duration: String) throws(ControlError) -> Int {
        do throws(ClockAdvance.Refusal) {
            return Int(try ClockAdvance(duration).seconds)
        } catch {
            throw ControlError(
                .invalidArgument,
                "must be 1s to 400d, in whole numbers with the units d, h, m and s, such as 10m or 1h30m")
        }
    }
}
