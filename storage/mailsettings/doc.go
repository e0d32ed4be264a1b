// Package mailsettings stores the mail settings of organizations.
package mailsettings
