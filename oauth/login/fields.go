package login

// The names of form fields.
const (
	fieldNext     = "next"
	fieldToken    = "token"
	fieldCode     = "code"
	fieldCeremony = "ceremony"
	fieldAnswer   = "answer"
	fieldEmail    = "email"
	fieldCurrent  = "current"
	fieldPassword = "password"
	fieldRepeated = "repeated"
	// fieldReset marks the address of a page that opens after a password was set.
	fieldReset = "password-set"
)
