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
	// fieldReset is the query parameter that makes a page say that the password was just
	// changed.
	fieldReset = "password-set"
)
