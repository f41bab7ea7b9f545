import Testing

@testable import Prompting

struct QuestionCountTests {
    @Test func `a question is answered once`() {
        var count = QuestionCount()
        let question = count.ask()
        let answers = [count.answers(question), count.answers(question)]
        #expect(answers == [true, false])
    }

    @Test func `what was typed for a question that was taken back answers nothing`() {
        var count = QuestionCount()
        let question = count.ask()
        count.withdraw()
        let isAnswer = count.answers(question)
        #expect(!isAnswer)
    }

    @Test func `what was typed for an earlier question does not answer the one that stands`() {
        var count = QuestionCount()
        let (first, second) = (count.ask(), count.ask())
        let answers = [count.answers(first), count.answers(second)]
        #expect(answers == [false, true])
    }
}
