package letters

import "fmt"

// Reset returns the letter with the link that sets a new password. asked has the time and
// the network of the user's request for the link.
func Reset(address, link string, asked Event) Letter {
	return content{
		subject: "Set a new password for Mailhelm",
		before: []string{
			fmt.Sprintf("A new password for Mailhelm was requested at %s.", asked),
			"To choose it, open this link. The link works once, for 15 minutes:",
		},
		link: link,
		after: []string{
			"If you did not request it, do nothing: your password does not change. Do not share the link.",
		},
	}.to(address)
}
