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
	// fieldReset is the query parameter by which a page shows that a password was just set.
	fieldReset = "password-set"
)
