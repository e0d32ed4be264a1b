package letters

import "fmt"

// Reset returns the letter with the link that sets a new password. asked is the request
// for it.
func Reset(address, link string, asked Event) Letter {
	return content{
		subject: "Set a new password for Mailhelm",
		before: []string{
			fmt.Sprintf("A new password for Mailhelm was asked for at %s.", asked),
			"Open this link to choose it. It works once, for 15 minutes:",
		},
		link: link,
		after: []string{
			"If you did not ask for it, you need not do anything: your password stays as it is. Do not pass the link on.",
		},
	}.to(address)
}
