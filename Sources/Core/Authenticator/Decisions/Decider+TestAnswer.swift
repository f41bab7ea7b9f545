#if Personas
import Journal
import Keys
import Records
import Signing
import StoreTables

extension Decider {
    /// Approves with a persona's assertion; all other steps are those of every approval.
    func approve(
        _ id: RequestID, by approver: Approver, answering answer: any TestAnswer, while wanted: DecisionLimit
    ) async throws -> DecidedRequest {
        var terms = Terms(expectations: Expectations(), approver: approver, pin: nil, limit: wanted)
        terms.answer = answer
        return try await approve(id, on: terms)
    }

    func body(
        _ answer: any TestAnswer, for request: RequestRecord, of enrollment: Enrollment, signCount: UInt32,
        with key: any UnlockedKey
    ) async throws -> [UInt8] {
        guard let approval = TestApproval(request, of: enrollment, signCount: signCount, with: key) else {
            throw CommandError(playing: enrollment)
        }
        do {
            return try await answer.body(of: approval)
        } catch let failure as CustodyError {
            throw CommandError(failure, request: request)
        }
    }

    /// Assigns a signCount and signs, even if the request can no longer be decided.
    func undecidedApproval(of request: RequestRecord, by answer: any TestAnswer) async throws -> [UInt8] {
        let owner = request.enrollmentId
        try ports.headStanding.expectApprovals(of: request)
        // The queue admits one approval of a credential at a time, so no signCount is assigned twice.
        try await queues.enter(owner)
        defer { queues.leave(owner) }
        let taken = try await ports.store.write { store -> (Enrollment, UInt32)? in
            guard let enrollment = try store.enrollment(owner), enrollment.isPlayable,
                enrollment.signCount < .max,
                let changed = try store.change(owner, .signCountTaken(enrollment.signCount + 1))
            else { return nil }
            return (enrollment, changed.signCount)
        }
        guard let (enrollment, signCount) = taken else {
            throw CommandError(.notEnrolled, "the enrollment \(owner) can sign nothing now", request: request)
        }
        let key = try await ports.custody.unlock(enrollment.keyReference, pin: nil)
        return try await body(answer, for: request, of: enrollment, signCount: signCount, with: key)
    }
}
#endif
