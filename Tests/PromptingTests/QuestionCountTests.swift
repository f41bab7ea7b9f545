import Testing

@testable import Prompting

struct QuestionCountTests {
    @Test func `a question is answered once`() {
        var count = QuestionCount()
        let question = count.ask()
        #expect(count.answers(question))
        #expect(!count.answers(question))
    }

    @Test func `what was typed for a question that was taken back answers nothing`() {
        var count = QuestionCount()
        let question = count.ask()
        count.withdraw()
        #expect(!count.answers(question))
    }

    @Test func `what was typed for an earlier question does not answer the one that stands`() {
        var count = QuestionCount()
        let (first, second) = (count.ask(), count.ask())
        #expect(!count.answers(first))
        #expect(count.answers(second))
    }
}
