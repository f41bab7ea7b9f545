import TextAndTime

/// How far back a report goes.
package enum FleetWindow {
    /// Reads a time such as `90m`, 400 days at most.
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
