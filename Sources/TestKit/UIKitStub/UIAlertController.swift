/// An alert or an action sheet: a title, a message and the buttons below.
@MainActor
open class UIAlertController: UIViewController {
    /// The place of the buttons: nothing here depends on it.
    public enum Style: Sendable {
        case actionSheet, alert
    }

    /// The text below the title; `nil` if there is none.
    open var message: String?
    /// The style that it was made with.
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

    /// Adds a button behind the others.
    open func addAction(_ action: UIAlertAction) { actions.append(action) }

    /// Taps a button, which UIKit leaves to the user: the alert is dismissed, then the button's handler is called.
    ///
    /// - Parameter title: that of the button.
    /// - Returns: false if the alert is not presented or has no such button; then nothing happens.
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
    /// The look of the button: nothing here depends on it.
    public enum Style: Sendable {
        case `default`, cancel, destructive
    }

    /// The text on the button; `nil` if there is none.
    public final let title: String?
    /// The style that it was made with.
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
