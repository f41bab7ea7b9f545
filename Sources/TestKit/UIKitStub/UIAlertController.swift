/// An alert or an action sheet: a title, a message and the buttons below.
@MainActor
open class UIAlertController: UIViewController {
    /// The position of the buttons, which has no effect here.
    public enum Style: Sendable {
        case actionSheet, alert
    }

    /// The text below the title, or `nil` for none.
    open var message: String?
    /// The style of the alert.
    public final let preferredStyle: Style
    /// The buttons, in the order in which they were added.
    public private(set) final var actions: [UIAlertAction] = []

    /// Makes an alert without buttons.
    public init(title: String?, message: String?, preferredStyle: Style) {
        self.message = message
        self.preferredStyle = preferredStyle
        super.init()
        self.title = title
    }

    /// Adds a button after the others.
    open func addAction(_ action: UIAlertAction) { actions.append(action) }

    /// Taps a button, as the user does in UIKit: dismisses the alert, then calls the button's handler.
    ///
    /// - Parameter title: the title of the button.
    /// - Returns: false, without an effect, if the alert is not presented or has no such button.
    @discardableResult
    public final func tap(_ title: String) -> Bool {
        guard presentingViewController != nil, let action = actions.first(where: { $0.title == title }) else {
            return false
        }
        dismiss(animated: false)
        action.handler?(action)
        return true
    }
}

/// A button of an alert.
@MainActor
open class UIAlertAction {
    /// The look of the button, which has no effect here.
    public enum Style: Sendable {
        case `default`, cancel, destructive
    }

    /// The text on the button, or `nil` for none.
    public final let title: String?
    /// The style of the button.
    public final let style: Style
    final let handler: (@MainActor (UIAlertAction) -> Void)?

    /// Makes a button.
    ///
    /// - Parameters:
    ///   - title: the text on the button.
    ///   - style: the look of the button.
    ///   - handler: called when the button is tapped.
    public init(title: String?, style: Style, handler: (@MainActor (UIAlertAction) -> Void)? = nil) {
        self.title = title
        self.style = style
        self.handler = handler
    }
}
