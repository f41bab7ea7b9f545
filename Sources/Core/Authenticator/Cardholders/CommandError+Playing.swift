#if Personas
package import Records

extension CommandError {
    /// Makes the error for an enrollment for which a persona may not answer.
    package init(playing enrollment: Enrollment) {
        self.init(
            .invalidArgument,
            "enrollment \(enrollment.id) is of authnType \(enrollment.authnType): personas are for enrollments of "
                + "authnType test, with a key of the agent's own")
    }
}
#endif
