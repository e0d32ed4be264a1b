package letters

import "fmt"

// Notice is a kind of letter that reports an event to a user, such as a changed password.
type Notice string

// The notices. Jobs store them.
const (
	PasswordChanged Notice = "password_changed"
	PasswordReset   Notice = "password_reset"
	PasswordSet     Notice = "password_set"
	WrongPasswords  Notice = "wrong_passwords"
)

// notices has the texts of the letter for each kind of notice. %s stands for the time and
// the network of the event.
var notices = map[Notice]struct{ subject, event, advice, end string }{
	PasswordChanged: {
		subject: "Your Mailhelm password was changed",
		event:   "Your password was changed at %s. You were signed out in all other browsers.",
		advice:  "If this was not you, reset your password at once, then check your second factors and the applications that you allowed:",
	},
	PasswordReset: {
		subject: "Your Mailhelm password was reset",
		event:   "Your password was reset with a mailed link at %s. You were signed out in all browsers. Your second factors did not change.",
		advice:  "If this was not you, another person can read your mail. Secure your mailbox first, then reset your password and check your second factors and the applications that you allowed:",
	},
	PasswordSet: {
		subject: "Your Mailhelm password was set by the operator",
		event:   "The operator of this server set a new password for you at %s. You were signed out in all browsers.",
		advice:  "Sign in with the password that the operator gives you, and change it:",
	},
	WrongPasswords: {
		subject: "Many wrong passwords were tried for your Mailhelm account",
		event:   "At least ten wrong passwords were tried for your account by %s. No attempt succeeded.",
		advice:  "If this was you, do nothing. If it was not, choose a password that you use nowhere else, and set up a second factor:",
		end:     "You can still sign in. You get this mail at most once a day.",
	},
}

// Letter returns the letter to the address that reports the given event. link is the URL of
// the page with the user's security settings.
func (n Notice) Letter(address, link string, event Event) Letter {
	words := notices[n]
	c := content{subject: words.subject, before: []string{fmt.Sprintf(words.event, event), words.advice}, link: link}
	if words.end != "" {
		c.after = []string{words.end}
	}
	return c.to(address)
}
