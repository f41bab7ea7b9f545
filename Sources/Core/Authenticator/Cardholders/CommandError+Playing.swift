#if Personas
package import Records

extension CommandError {
    /// A persona may not answer for it.
    package init(playing enrollment: Enrollment) {
        self.init(
            .invalidArgument,
            "enrollment \(enrollment.id) is of authnType \(enrollment.authnType): personas are for enrollments of "
                + "authnType test, with a key of the agent's own")
    }
}
#endif
